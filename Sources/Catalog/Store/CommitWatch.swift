internal import Glibc
internal import PosixKit

/// Wakes the observers of this process when it or another one has committed. Each commit writes to a small file beside
/// the catalogue; a thread of each process that has observers sleeps until the system says so (inotify(7)).
final class CommitWatch: Sendable {
  private struct State: ~Copyable {
    var observers: [Callback<Void>] = []
    var isStopped = false
  }

  private let path: String
  private let file: Int32
  private let wakeup = try? WakeupEvent()
  private let state = Monitor(State())

  init(path: String) {
    self.path = path
    var file = try? FileDescriptor(opening: path, O_RDWR | O_CREAT, mode: 0o600)
    self.file = file.take()?.release() ?? -1
  }

  deinit { if file >= 0 { close(file) } }

  func announce() {
    var byte: UInt8 = 0
    _ = pwrite(file, &byte, 1, 0)
  }

  /// Calls the observer on a thread of its own at once, and then after commits, until `stop()`. One call may stand for
  /// several commits.
  func observe(_ observer: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      state.observers.append(Callback { observer() })
      return state.observers.count == 1 && !state.isStopped
    }
    wakeup?.signal()
    if isFirst { PosixThread.start("catalog-commits") { [self] in run() } }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.observers = []
    }
    wakeup?.signal()
  }

  private func run() {
    let watch = try? FileWatch()
    let isWatching = watch?.add(path, .writing) != nil
    while let observers = state.withLock({ $0.isStopped ? nil : $0.observers }) {
      for observer in observers { observer() }
      var polled = [
        pollfd(fd: wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: watch?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      // Where the system has no watch to give, it looks once a second.
      poll(&polled, 2, isWatching ? -1 : 1000)
      wakeup?.drain()
      _ = watch?.events()
    }
  }
}

extension Catalog {
  /// Calls `observer` when there may be new commits (`commits(after:)`), by this process or another one, on a thread of the
  /// catalogue's own, until `close()`.
  package func observe(_ observer: @escaping @Sendable () -> Void) { store.commits.observe(observer) }

  /// Calls `body` with the commits of all processes from now on, in order.
  package func observeCommits(_ body: @escaping @Sendable (CatalogCommit) -> Void) {
    let last = Monitor((try? commits()) ?? 0)
    observe { [self] in
      for commit in (try? commits(after: last.withLock { $0 })) ?? [] {
        last.withLock { $0 = commit.number }
        body(commit)
      }
    }
  }

  package func observeChanges(_ body: @escaping @Sendable (CatalogChange) -> Void) {
    observeCommits { commit in for change in commit.changes { body(change) } }
  }

  /// Calls `body` once, when the catalogue was replaced: this process goes on with a file that nobody else has. It is noticed
  /// when somebody commits, or this process tries to.
  package func observeReplacement(_ body: @escaping @Sendable () -> Void) {
    let isFirst = Monitor(true)
    observe { [store] in
      guard store.isReplaced else { return }
      let isNews = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if isNews { body() }
    }
  }

  package func commits() throws(CatalogError) -> Int64 { try store.read { try ChangeLog.count(in: $0) } }

  package func commits(after number: Int64) throws(CatalogError) -> [CatalogCommit] {
    try store.read { try ChangeLog.commits(after: number, in: $0) }
  }
}
