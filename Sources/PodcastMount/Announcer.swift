internal import FuseKit
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
  private struct State {
    var announcements = Announcements()
    var isScheduled = false
    /// Not looked for watchers before this.
    var rest = MonotonicTime(nanoseconds: 0)
    var isStopped = true
    /// What the announcer's threads are at.
    var current: [Int32: Difference.Name] = [:]
    /// The kernel's numbers of directories that have gone, where these were not their own.
    var numbers: [NodeID: UInt64] = [:]
    /// The mount's device, as the kernel numbers it.
    var device: UInt64?
    var connection: Int32 = -1

    /// Of the directories whose end has been told, or concerns nobody.
    mutating func forgetNumbers() {
      if numbers.isEmpty { return }
      let inHand = current.values.map(\.node)
      numbers = numbers.filter { announcements.place(ofEnded: $0.key) != nil || inHand.contains($0.key) }
    }
  }
  private let state = Monitor(State())
  private let tree: PodcastTree
  private let numbers: KernelNumbers
  private let notifier: KernelNotifier
  private let mountPoint: String
  private let isShared: Bool
  private let memory: LastingMemory?
  /// The threads of the process before: what they were at when that died comes again, and means nothing.
  private let predecessors: Set<Int32>
  private let queue: WorkQueue
  private let threads: DirectoryThreads
  /// Seconds in which further changes join a batch.
  private static let delay = 0.05
  /// Seconds at the most between two looks for who watches.
  private static let longestRest = 2.0
  /// Seconds in which a process that died is remembered.
  private static let inheritance = 60.0
  /// How often a name is tried: see `perform`.
  private static let attempts = 3

  init(
    tree: PodcastTree, numbers: KernelNumbers, notifier: KernelNotifier, mountPoint: String, isShared: Bool,
    memory: LastingMemory?, _ records: [LastingMemory.Record]
  ) {
    self.memory = memory
    let inherited = records.filter { $0.kind == .announcer }
    predecessors = Set(inherited.map { Int32(truncatingIfNeeded: $0.values[0]) })
    let queue = WorkQueue(name: "watchers")
    self.queue = queue
    threads = DirectoryThreads("announcer", queue)
    self.tree = tree
    self.numbers = numbers
    self.notifier = notifier
    self.mountPoint = mountPoint
    self.isShared = isShared
    // By then what they were at has come again, also where the next process has died at once.
    queue.async(after: Self.inheritance) { for record in inherited { memory?.remove(record.index) } }
  }

  func begin(device: String?, connection: Int32) {
    // The kernel's own numbers, without a look at the mount: that would keep it busy for a moment.
    let numbers = device?.split(separator: ":").compactMap { UInt64($0) } ?? []
    state.withLock { state in
      if numbers.count == 2 { state.device = numbers[0] << 20 | numbers[1] & 0xf_ffff }
      state.connection = connection
      state.isStopped = false
    }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.announcements.removeAll()
    }
  }

  /// - Parameter ended: the directories that have gone, with the numbers that the kernel has for them where these were not
  ///   their own.
  func announce(_ difference: Difference, ended: [NodeID: UInt64], in known: KnownDirectories) {
    let names = (difference.names + difference.states).filter {
      known.contains(ended[$0.directory] ?? number(of: $0.directory))
    }
    if names.isEmpty { return }
    let isNeeded = state.withLock { state in
      if state.isStopped { return false }
      state.numbers.merge(ended) { $1 }
      state.announcements.note(names)
      return true
    }
    if isNeeded { schedule() }
  }

  /// What is still to be announced.
  var count: Int { state.withLock { $0.announcements.count + $0.current.count } }

  /// Whether those who watch may still have to be told of a name.
  func isToTell(of name: String, in directory: NodeID) -> Bool {
    state.withLock { state in
      state.current.values.contains { $0.name == name && $0.directory == directory }
        || state.announcements.mayHold(name, in: directory)
    }
  }

  private func schedule() {
    let rest = state.withLock { state -> MonotonicTime? in
      defer { state.isScheduled = true }
      return state.isScheduled ? nil : state.rest
    }
    guard let rest else { return }
    queue.async(after: max(Self.delay, rest.seconds(since: .now))) { [self] in run() }
  }

  /// The kernel makes a name or takes it away itself, and tells who watches: until that has ended nothing else is said
  /// of it.
  func begins(_ name: String, in directory: NodeID) {
    state.withLock { $0.announcements.begins(name, in: directory) }
  }

  /// - Parameter told: what the kernel has told; nil where it could not do it.
  func ends(_ name: String, in directory: NodeID, told: Difference.Event?) {
    let isPending = state.withLock { state in
      state.announcements.ends(name, in: directory, told: told) && !state.isStopped
    }
    if isPending { schedule() }
  }

  private func run() {
    let (look, device) = state.withLock { state in
      state.isScheduled = false
      if state.device == nil { state.announcements.removeAll() }
      return (state.announcements.look, state.device)
    }
    guard let device, !look.directories.isEmpty else { return }
    let begun = Self.processorTime
    let watched = Watches.find(on: device)
    // The look through all programs' descriptors takes a twentieth of the time, more only where that would be long to wait.
    let taken = Self.processorTime - begun
    let directories = look.directories.filter { isWatched($0, watched) }
    let alive = directories.filter { tree.path(of: $0) != nil }
    let (places, connection) = state.withLock { state in
      state.rest = .after(min(taken * 20, Self.longestRest))
      state.announcements.drop(except: directories, alive: alive, foundBy: look)
      state.forgetNumbers()
      return (state.announcements.withPlaces(of: directories), state.connection)
    }
    tell(of: places, connection)
  }

  private func tell(of directories: some Sequence<NodeID>, _ connection: Int32) {
    threads.run(directories, connection: connection) { [self] directory in
      tell(of: directory)
      let (waiting, connection) = state.withLock { state in
        let waiting = state.announcements.finish(directory)
        state.forgetNumbers()
        return (waiting, state.connection)
      }
      if let waiting { tell(of: [waiting], connection) }
    }
  }

  private func tell(of directory: NodeID) {
    let keys = state.withLock { $0.announcements.begin(directory) }
    if keys.isEmpty { return }
    let thread = PosixThread.currentID
    let record = memory?.add(.announcer, [UInt64(thread)])
    defer { if let record { memory?.remove(record) } }
    for key in keys {
      let names = state.withLock { $0.announcements.take(key) }
      guard !names.isEmpty, let path = path(of: directory) else { continue }
      for name in names {
        if state.withLock({ $0.isStopped }) { return }
        state.withLock { $0.current[thread] = name }
        perform(name, "\(path)/\(name.name)")
        state.withLock { $0.current[thread] = nil }
      }
    }
  }

  /// That the calling thread has used, in seconds.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func isWatched(_ directory: NodeID, _ watched: Watches.Found) -> Bool {
    watched.inodes.contains(directory.inode) || watched.inodes.contains(number(of: directory))
      || isShared && watched.isPartial
  }

  private func path(of directory: NodeID) -> String? {
    if let path = tree.path(of: directory) { return ([mountPoint] + path).joined(separator: "/") }
    guard let place = state.withLock({ $0.announcements.place(ofEnded: directory) }) else { return nil }
    return path(of: place.parent).map { "\($0)/\(place.name)" }
  }

  /// Does to a name what it is to be told of. Who looked at it just when it changed may have left it in the kernel's cache
  /// as it is now, and the call would end there: then the kernel forgets it, and the call is made again. Who has looked since
  /// has left nothing (`isToTell`).
  private func perform(_ name: Difference.Name, _ path: String) {
    let isInTheWay: Errno = name.event == .appeared ? .EEXIST : .ENOENT
    for _ in 0..<Self.attempts {
      if PosixThread.whileWaitingForItself({ call(name, path) }) || Errno.current != isInTheWay { return }
      notifier.forget(name.name, in: number(of: name.directory))
    }
  }

  private func call(_ name: Difference.Name, _ path: String) -> Bool {
    switch (name.event, name.isDirectory) {
    case (.appeared, true): return mkdir(path, 0o755) == 0
    case (.appeared, false):
      let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
      if descriptor >= 0 { Glibc.close(descriptor) }
      return descriptor >= 0
    case (.vanished, true): return rmdir(path) == 0
    case (.vanished, false): return unlink(path) == 0
    case (.replaced, _), (.uncertain, _): return utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0
    }
  }

  // MARK: What the file system asks

  /// Whether a request is the announcer's, or what that of the process before was at: but for what is announced it does
  /// nothing.
  func isOwn(_ caller: FuseCaller) -> Bool {
    caller.isRepeated && predecessors.contains(caller.thread) || announcement(from: caller.thread) != nil
  }

  /// The number that the kernel has for a directory, also for one that has gone.
  func number(of directory: NodeID) -> UInt64 {
    state.withLock { $0.numbers[directory] } ?? numbers.number(directory)
  }

  /// The directory that had a name, where one of the announcer's threads is on its way through it to tell what has gone there.
  func ended(_ name: String, in parent: UInt64, from thread: Int32) -> NodeID? {
    guard var directory = announcement(from: thread)?.directory else { return nil }
    while let place = state.withLock({ $0.announcements.place(ofEnded: directory) }) {
      if place.name == name && number(of: place.parent) == parent { return directory }
      directory = place.parent
    }
    return nil
  }

  /// What the announcer is at, where a request comes from one of its threads: such a request does nothing.
  func announcement(from thread: Int32) -> Difference.Name? {
    state.withLock { $0.current.isEmpty ? nil : $0.current[thread] }
  }
}
