internal import Glibc
internal import PodcastTree
internal import PosixKit

/// Lets those who watch a directory (inotify: file managers, Samba) hear of what appears in it, disappears from it
/// and becomes complete.
///
/// inotify hears only of what is done through the kernel; what we tell the kernel to forget makes no event. So this
/// process makes the name itself, through its own mount: `open` with O_CREAT and O_EXCL, or `mkdir`. The lookup of
/// that is answered with "no such file", and the creation with what is there already; watchers get IN_CREATE. In the
/// same way `unlink` of what has gone gives IN_DELETE, and `utimensat` IN_ATTRIB for another state. Nothing is done
/// by any of them, and from any other thread than the announcer's they mean what they always do.
///
/// Only for directories that somebody watches, in batches.
final class Announcer: Sendable {
  private struct Key: Hashable {
    let directory: NodeID
    let name: String
  }
  private struct State {
    var pending: [Key: Difference.Name] = [:]
    var order: [Key] = []
    var isScheduled = false
    /// Not looked for watchers before this.
    var rest = MonotonicTime(nanoseconds: 0)
    var isStopped = true
    /// What the announcer's thread is at.
    var current: Difference.Name?
    var thread: Int32 = 0
    /// The mount's device, as the kernel numbers it.
    var device: UInt64?
  }
  private let state = Monitor(State())
  private let tree: PodcastTree
  private let numbers: KernelNumbers
  private let mountPoint: String
  private let isShared: Bool
  private let queue = WorkQueue(name: "announcer")
  /// Seconds in which further changes join a batch.
  private static let delay = 0.05
  /// More names at once are a new directory rather than news.
  private static let limit = 20_000

  init(tree: PodcastTree, numbers: KernelNumbers, mountPoint: String, isShared: Bool) {
    self.tree = tree
    self.numbers = numbers
    self.mountPoint = mountPoint
    self.isShared = isShared
  }

  func begin(device: String?) {
    // The kernel's own numbers, without a look at the mount: that would keep it busy for a moment.
    let numbers = device?.split(separator: ":").compactMap { UInt64($0) } ?? []
    queue.async { [self] in
      state.withLock { state in
        if numbers.count == 2 { state.device = numbers[0] << 20 | numbers[1] & 0xf_ffff }
        state.thread = PosixThread.currentID
        state.isStopped = false
      }
    }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.pending = [:]
      state.order = []
    }
  }

  func announce(_ difference: Difference, in known: KnownDirectories) {
    let names = (difference.names + difference.states).filter { known.contains(numbers.number($0.directory)) }
    if names.isEmpty { return }
    let isFirst = state.withLock { state in
      if state.isStopped { return false }
      for name in names {
        let key = Key(directory: name.directory, name: name.name)
        if state.pending.count >= Self.limit { break }
        guard let old = state.pending[key] else {
          state.pending[key] = name
          state.order.append(key)
          continue
        }
        var merged = name
        switch (old.event, name.event) {
        // Gone and back before anybody was told: it has changed.
        case (.vanished, .appeared): merged.event = .replaced
        // Of what has gone a word on its state says nothing, and what has come has come.
        case (.vanished, .replaced), (.appeared, .replaced): merged.event = old.event
        default: break
        }
        state.pending[key] = merged
      }
      defer { state.isScheduled = true }
      return !state.isScheduled && !state.pending.isEmpty
    }
    if isFirst {
      let rest = state.withLock { $0.rest }.seconds(since: .now)
      queue.async(after: max(Self.delay, rest)) { [self] in run() }
    }
  }

  /// The kernel has taken the name away itself, and told who watches.
  func isTold(_ name: String, in directory: NodeID) {
    let key = Key(directory: directory, name: name)
    state.withLock { state in
      if state.pending[key]?.event == .vanished { state.pending[key] = nil }
    }
  }

  private func run() {
    let names = state.withLock { state in
      let names = state.order.compactMap { state.pending[$0] }
      state.pending = [:]
      state.order = []
      state.isScheduled = false
      return names
    }
    guard let device = state.withLock({ $0.device }) else { return }
    let begun = MonotonicTime.now
    let watched = Watches.find(on: device)
    // The look through all programs' descriptors takes at most this part of the time.
    let taken = MonotonicTime.now.seconds(since: begun)
    state.withLock { $0.rest = .after(taken * 20) }
    for name in names {
      if state.withLock({ $0.isStopped }) { return }
      let isWatched =
        watched.inodes.contains(name.directory.inode)
        || watched.inodes.contains(numbers.number(name.directory))
      guard isWatched || isShared && watched.isPartial, let directory = tree.path(of: name.directory) else {
        continue
      }
      let path = ([mountPoint] + directory + [name.name]).joined(separator: "/")
      state.withLock { $0.current = name }
      perform(name, path)
      state.withLock { $0.current = nil }
    }
  }

  private func perform(_ name: Difference.Name, _ path: String) {
    switch (name.event, name.isDirectory) {
    case (.appeared, true): mkdir(path, 0o755)
    case (.appeared, false):
      let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
      if descriptor >= 0 { Glibc.close(descriptor) }
    case (.vanished, true): rmdir(path)
    case (.vanished, false): unlink(path)
    case (.replaced, _): utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW)
    }
  }

  // MARK: What the file system asks

  /// What the announcer is at, where a request comes from its thread: such a request does nothing.
  func announcement(from thread: Int32) -> Difference.Name? {
    if thread == 0 { return nil }
    return state.withLock { $0.thread == thread ? $0.current : nil }
  }
}
