internal import Glibc
internal import PosixKit

/// Tells the observers of this process of commits, by this process and by others, and the other processes of
/// ours. Nobody polls: a thread sleeps until a datagram comes.
///
/// No change is missed for good: every commit has a number. After each message the receiver looks at the
/// count of commits; where it has not heard of all of them a moment later, it tells its observers to look at
/// everything again.
final class ChangeNotices: Sendable {
  typealias Observer = @Sendable (CatalogChange) -> Void

  private struct State: ~Copyable {
    var observers: [Observer] = []
    /// Commits heard of.
    var heard = CommitTracker()
    var ownPath: String?
    var isStopped = false
  }

  private let directory: String
  private let state = Monitor(State())
  private let wakeup: WakeupEvent?
  private let queue = WorkQueue(name: "catalog-changes")
  /// How long a message may take after its commit, in seconds.
  private static let patience = 0.3

  init(directory: String) {
    self.directory = directory
    wakeup = try? WakeupEvent()
  }

  /// - Parameter commits: the count of commits by now.
  func observe(_ observer: @escaping Observer, commits: @escaping @Sendable () -> Int64?) {
    let isFirst = state.withLock { state in
      state.observers.append(observer)
      return state.observers.count == 1 && !state.isStopped
    }
    if isFirst { startReceiver(commits) }
  }

  /// Tells everybody of a commit of this process.
  func announce(_ message: ChangeMessage) {
    let own = state.withLock { state in
      if state.ownPath != nil { state.heard.note(message.commit) }
      return state.ownPath
    }
    tellObservers(message.changes)
    PeerSockets.send(message.bytes, in: directory, except: own)
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.observers = []
    }
    wakeup?.signal()
    queue.stop()
  }

  private func tellObservers(_ changes: [CatalogChange]) {
    queue.async { [self] in
      let observers = state.withLock { $0.observers }
      for change in changes { for observer in observers { observer(change) } }
    }
  }

  /// Without a socket (no room, no permission) a process hears of its own changes only.
  private func startReceiver(_ commits: @escaping @Sendable () -> Int64?) {
    let path = PeerSockets.ownPath(in: directory)
    guard let wakeup, let socket = try? PeerSockets.bind(in: directory, path: path) else { return }
    // Counted after the socket is there: what is committed from now on comes as a message.
    let counted = commits() ?? 0
    state.withLock { state in
      state.ownPath = path
      state.heard.start(at: counted)
    }
    let number = socket.release()
    PosixThread.start("catalog-peers") { [self] in
      receive(FileDescriptor(owning: number), wakeup, commits)
      unlink(path)
    }
  }

  private func receive(
    _ socket: consuming FileDescriptor, _ wakeup: WakeupEvent, _ commits: @Sendable () -> Int64?
  ) {
    var deadline = MonotonicTime.distantFuture
    while !state.withLock({ $0.isStopped }) {
      var polled = [
        pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      poll(&polled, 2, deadline.pollTimeout)
      while let bytes = PeerSockets.receive(socket) {
        guard let message = ChangeMessage(bytes) else { continue }
        state.withLock { $0.heard.note(message.commit) }
        tellObservers(message.changes)
      }
      deadline = checkForGap(commits(), deadline)
    }
  }

  /// - Returns: when to look again for what has not been heard of.
  private func checkForGap(_ commits: Int64?, _ deadline: MonotonicTime) -> MonotonicTime {
    guard let commits, state.withLock({ $0.heard.isMissing(before: commits) }) else { return .distantFuture }
    if deadline == .distantFuture { return .after(Self.patience) }
    if MonotonicTime.now < deadline { return deadline }
    state.withLock { $0.heard.start(at: commits) }
    tellObservers([.everything])
    return .distantFuture
  }
}
