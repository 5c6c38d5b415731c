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
    /// Directories to which there was no way, and how often.
    var wayless: [NodeID: Int] = [:]
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
  private let told: ToldNames
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
    told = ToldNames(queue)
    self.tree = tree
    self.numbers = numbers
    self.notifier = notifier
    self.mountPoint = mountPoint
    self.isShared = isShared
    // By then what they were at has come again, also where the next process has died at once.
    queue.async(after: Self.inheritance) { for record in inherited { memory?.remove(record.index) } }
  }

  /// - Parameters:
  ///   - runtime: the directory for what the next process needs to know; nil where there will be none.
  ///   - takesOver: whether there was a process before.
  func begin(device: String?, connection: Int32, runtime: String?, takesOver: Bool) {
    if let device, let runtime {
      let name = String(device.map { $0 == ":" ? "-" : $0 })
      told.begin(in: "\(runtime)/told/\(name)", inherits: takesOver)
    }
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
    told.end()
  }

  /// Tells those who watch what is different from what they knew when the process before ended.
  func resume() {
    queue.async { [self] in
      let inherited = told.inherited
      guard let device = state.withLock({ $0.device }), !inherited.isEmpty else { return }
      let watched = Watches.find(on: device)
      // Of the others the end of a directory is told.
      let compared = inherited.filter { $0.kind == .fixed || $0.kind == .search || isWatched($0, watched) }
      for other in inherited.subtracting(compared) { told.forget(other) }
      tree.tellNews(in: Array(compared)) { [told] in told.takeInherited($0) }
    }
  }

  /// A directory's listing is in memory.
  func lists(_ directory: NodeID, _ names: @escaping @Sendable (_ add: (String, NodeID) -> Void) -> Void) {
    told.keep(directory) { [self] add in
      names { add($0, $1) }
      let known = state.withLock { state in
        state.announcements.known(in: directory)
          + state.current.values.lazy.filter { $0.directory == directory }.compactMap(\.known)
      }
      for (name, node) in known { add(name, node) }
    }
  }

  /// A directory's listing had to make room.
  func listsNoMore(_ directory: NodeID) { told.forget(directory) }

  /// The kernel has told of names, or will.
  func hasTold(_ names: [Difference.Name]) { told.note(names) }

  /// - Parameter ended: the directories that have gone, with the numbers that the kernel has for them where these were not
  ///   their own.
  func announce(_ difference: Difference, ended: [NodeID: UInt64], in known: KnownDirectories) {
    var names: [Difference.Name] = []
    var unknown: [Difference.Name] = []
    for name in difference.names + difference.states {
      if known.contains(ended[name.directory] ?? number(of: name.directory)) {
        names.append(name)
      } else {
        unknown.append(name)
      }
    }
    told.note(unknown)
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
    let (isPending, pending) = state.withLock { state in
      let pending = told.flatMap { state.announcements.pending(name, in: directory, $0) }
      let isLeft = state.announcements.ends(name, in: directory, told: told)
      return (isLeft && !state.isStopped, pending)
    }
    let gone = Difference.Name(
      name: name, directory: directory, event: .vanished, isDirectory: false, node: directory)
    if let name = pending ?? (told == .vanished ? gone : nil) { self.told.note([name]) }
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
    let (places, connection, dropped) = state.withLock { state in
      state.rest = .after(min(taken * 20, Self.longestRest))
      let dropped = state.announcements.drop(except: directories, alive: alive, foundBy: look)
      state.forgetNumbers()
      return (state.announcements.withPlaces(of: directories), state.connection, dropped)
    }
    told.note(dropped)
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
      guard mayTell(of: directory) else { break }
      let names = sparingLiving(state.withLock { $0.announcements.take(key) })
      let path = names.isEmpty ? nil : path(of: directory)
      for name in names {
        if state.withLock({ $0.isStopped }) { return }
        if let path {
          state.withLock { $0.current[thread] = name }
          perform(name, in: path)
          state.withLock { $0.current[thread] = nil }
        }
        told.note([name])
      }
    }
  }

  /// Whether there is a way to what is to be told in a directory, or never will be. One that has just gone is looked up no more,
  /// and a moment later it is known that its end is to be told: until then its names wait.
  private func mayTell(of directory: NodeID) -> Bool {
    let isThere = path(of: directory) != nil
    let mayTell = state.withLock { state in
      let tries = state.wayless[directory] ?? 0
      let isLast = isThere || tries == Self.attempts
      state.wayless[directory] = isLast ? nil : tries + 1
      return isLast
    }
    if !mayTell { schedule() }
    return mayTell
  }

  /// What is to be told of a name, but for the end of a directory that has another name by now, and could not be told as
  /// renamed: rmdir(2) would end it for who is in it.
  private func sparingLiving(_ names: [Difference.Name]) -> [Difference.Name] {
    let endsLiving = names.contains { name in
      let canBeRenamed = name.node.kind == .subscription || name.node.kind == .search
      return canBeRenamed && name.event == .vanished && tree.path(of: name.node) != nil
    }
    guard endsLiving, var last = names.last else { return names }
    told.note(names)
    if last.event == .vanished { return [] }
    last.event = .replaced
    return [last]
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
  private func perform(_ name: Difference.Name, in parent: String) {
    for _ in 0..<Self.attempts {
      if PosixThread.whileWaitingForItself({ call(name, in: parent) }) { return }
      switch (name.event, Errno.current) {
      case (.appeared, .EEXIST), (.vanished, .ENOENT), (.replaced, .ENOENT), (.moved, .ENOENT):
        notifier.forget(name.name, in: number(of: name.directory))
      case (.moved(let other), .EEXIST): notifier.forget(other, in: number(of: name.directory))
      default: return
      }
    }
  }

  private func call(_ name: Difference.Name, in parent: String) -> Bool {
    let path = "\(parent)/\(name.name)"
    switch (name.event, name.isDirectory) {
    case (.appeared, true): return mkdir(path, 0o755) == 0
    case (.appeared, false):
      let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
      if descriptor >= 0 { Glibc.close(descriptor) }
      return descriptor >= 0
    case (.moved(let other), _): return Directories.rename(path, toNew: "\(parent)/\(other)") == 0
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
