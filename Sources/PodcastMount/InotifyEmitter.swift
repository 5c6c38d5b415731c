internal import FuseKit
internal import Glibc
internal import PodcastTree
internal import PosixKit

/// Makes inotify events for programs that watch a folder (file managers, Samba): it makes and removes names through its own
/// mount, which changes nothing. Documentation/Internals/notifications.md tells how, and what is not promised.
final class InotifyEmitter: Sendable {
  struct Entry: Sendable {
    let name: Difference.Name
    /// The kernel's number of the node that the name leads, or has led, to.
    let number: UInt64
  }
  private struct State {
    var pending: [NodeID: [String: Difference.Name]] = [:]
    var count: Int { pending.values.reduce(0) { $0 + $1.count } }
    var isScheduled = false
    /// The name for which this emitter makes a system call at this moment.
    var current: Entry?
    /// The thread that makes these calls, as gettid(2) numbers it.
    var thread: Int32 = 0
    /// The mount's device, as the kernel numbers it; nil before `begin` and after `stop`.
    var device: UInt64?
  }
  private let state = Monitor(State())
  private let tree: PodcastTree
  private let kernel: KernelCache
  private let inFlight: InFlightOperations
  private let mountPoint: String
  private let isShared: Bool
  private static let threadName = "watchers"
  private let queue = WorkQueue(name: threadName, stackSize: 256 * 1024, isPermanent: true)
  /// Seconds in which further changes join a batch, and until the next try in a folder that a request holds.
  private static let (delay, pause) = (0.2, 2.0)
  /// More names at once are a new folder rather than news.
  private static let limit = 20_000
  /// Makes of a folder's number one that the kernel has for nothing: only episodes have versions.
  private static let standIn: UInt64 = 1 << 53
  private static let attempts = 3

  init(
    tree: PodcastTree, kernel: KernelCache, inFlight: InFlightOperations, mountPoint: String, isShared: Bool
  ) {
    (self.tree, self.kernel, self.inFlight) = (tree, kernel, inFlight)
    (self.mountPoint, self.isShared) = (mountPoint, isShared)
  }

  func begin(device: UInt64?, connection: Int32) {
    guard let device else { return }
    queue.async { [self] in
      // It waits in the kernel for this mount, which the next process may have to answer.
      PosixThread.leaveDescriptors(but: connection)
      state.withLock { $0.thread = PosixThread.currentID }
    }
    state.withLock { $0.device = device }
  }

  /// Reads the folders that programs watched before this process began: no program may look them up again.
  func resume() {
    guard let device = state.withLock({ $0.device }) else { return }
    for inode in Watches.find(on: device).inodes { tree.prepare(NodeID(rawValue: inode)) }
  }

  func stop() {
    state.withLock { state in
      state.device = nil
      state.pending = [:]
    }
  }

  func announce(_ difference: Difference) {
    let names = inFlight.others(of: difference.names) + difference.news
    if names.isEmpty { return }
    let isNeeded = state.withLock { state in
      if state.device == nil || state.count + names.count > Self.limit { return false }
      for name in names { Self.add(name, to: &state) }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isNeeded { queue.async(after: Self.delay) { [self] in run() } }
  }

  private static func add(_ new: Difference.Name, to state: inout State) {
    let (folder, name) = (new.directory, new.name)
    switch (state.pending[folder]?[name]?.event, new.event) {
    case (.appeared, .vanished): state.pending[folder]?[name] = nil
    case (.vanished, .appeared):
      // Under this name there is something else now.
      state.pending[folder]?[name] = new
      state.pending[folder]?[name]?.event = .replaced
    case (.some, .replaced): break
    default: state.pending[folder, default: [:]][name] = new
    }
  }

  var count: Int { state.withLock { $0.count + ($0.current == nil ? 0 : 1) } }

  private func run() {
    let (device, folders) = state.withLock { state in
      state.isScheduled = false
      return (state.device, Array(state.pending.keys))
    }
    guard let device, !folders.isEmpty else { return }
    let watched = Watches.find(on: device)
    var isLeft = false
    for folder in folders {
      if inFlight.holds(folder) {
        isLeft = true
        continue
      }
      let names = state.withLock { $0.pending.removeValue(forKey: folder) }.map { Array($0.values) } ?? []
      // The watchers of a folder hear of its end, also where no program watches the folder above it.
      let isWatched = isWatched(folder, watched)
      let told = names.filter {
        isWatched || $0.isDirectory && $0.event == .vanished && self.isWatched($0.node, watched)
      }
      // A folder that has another name leaves the old one first.
      let ordered = told.filter { $0.event == .vanished } + told.filter { $0.event != .vanished }
      if ordered.isEmpty { continue }
      guard let path = tree.path(of: folder)?.reduce(mountPoint, { "\($0)/\($1)" }) else { continue }
      for name in ordered { perform(name, in: path) }
    }
    let isNeeded = state.withLock { state in
      defer { if isLeft { state.isScheduled = true } }
      return isLeft && !state.isScheduled
    }
    if isNeeded { queue.async(after: Self.pause) { [self] in run() } }
  }

  private func isWatched(_ folder: NodeID, _ watched: Watches.Found) -> Bool {
    watched.inodes.contains(folder.inode) || watched.inodes.contains(folder.rawValue)
      || isShared && watched.isPartial
  }

  /// Makes the system call for a name. A program that looked the name up after the change may have put it into the kernel's
  /// cache, so that the call fails there. Then the kernel forgets the name, and the call is made again.
  private func perform(_ name: Difference.Name, in parent: String) {
    var number = name.node.rawValue
    let canBeRenamed = name.node.kind == .subscription || name.node.kind == .search
    if canBeRenamed, name.event == .vanished, tree.path(of: name.node) != nil {
      // The folder has another name by now: rmdir(2) of its node would end it for the programs that work in it.
      number |= Self.standIn
      kernel.forget(name.name, in: name.directory.rawValue)
    }
    let entry = Entry(name: name, number: number)
    state.withLock { $0.current = $0.device == nil ? nil : entry }
    defer { state.withLock { $0.current = nil } }
    for _ in 0..<Self.attempts {
      if state.withLock({ $0.current == nil }) { return }
      if PosixThread.whileWaitingForItself({ Self.call(name, "\(parent)/\(name.name)") }) { return }
      switch (name.event, Errno.current) {
      case (.appeared, .EEXIST), (.vanished, .ENOENT), (.replaced, .ENOENT):
        kernel.forget(name.name, in: name.directory.rawValue)
      default: return
      }
    }
  }

  private static func call(_ name: Difference.Name, _ path: String) -> Bool {
    switch (name.event, name.isDirectory) {
    case (.appeared, true): return mkdir(path, 0o755) == 0
    case (.appeared, false):
      let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
      if descriptor >= 0 { Glibc.close(descriptor) }
      return descriptor >= 0
    case (.vanished, true): return rmdir(path) == 0
    case (.vanished, false): return unlink(path) == 0
    case (.replaced, _): return utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0
    }
  }

  /// The name that the emitter makes known at this moment, if `thread` is the emitter's own; else nil. The mount then
  /// answers the request by itself.
  func entry(from thread: Int32) -> Entry? { state.withLock { $0.thread == thread ? $0.current : nil } }

  /// Whether a repeated request comes from the emitter of a killed process. Its thread waits for the answer. Meanwhile the
  /// name may lead to something else, which must stay.
  static func isOfKilled(_ thread: Int32) -> Bool {
    (try? Directories.read("/proc/\(thread)/comm")) == Array("\(threadName)\n".utf8)
  }
}

/// The directories of a mount that programs watch by inotify(7), as proc(5) shows them.
enum Watches {
  struct Found {
    /// Inode numbers: those of stat(2), or the kernel's own number of a node whose attributes it has not read.
    var inodes: Set<UInt64> = []
    /// Whether there are programs whose descriptors this process may not see.
    var isPartial = false
  }

  /// - Parameter device: the mount's, as the kernel numbers it: 12 bits of the major number before 20 of the minor.
  static func find(on device: UInt64) -> Found {
    var found = Found()
    for process in Processes.all() where process != getpid() {
      let folder = "/proc/\(process)"
      do throws(PosixError) {
        for name in try Directories.names(in: folder + "/fd")
        where Directories.linkTarget("\(folder)/fd/\(name)") == "anon_inode:inotify" {
          let bytes = (try? Directories.read("\(folder)/fdinfo/\(name)", limit: 1 << 20)) ?? []
          let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
          found.inodes.formUnion(lines.compactMap { inode($0, device: device) })
        }
      } catch {
        if [.EACCES, .EPERM].contains(error.errno) { found.isPartial = true }
      }
    }
    return found
  }

  /// "inotify wd:1 ino:9e7e sdev:800013 mask:800afce …": numbers in hexadecimal.
  private static func inode(_ line: Substring, device: UInt64) -> UInt64? {
    guard line.hasPrefix("inotify ") else { return nil }
    var inode: UInt64?
    for field in line.split(separator: " ") {
      if field.hasPrefix("ino:") { inode = UInt64(field.dropFirst(4), radix: 16) }
      if field.hasPrefix("sdev:"), UInt64(field.dropFirst(5), radix: 16) != device { return nil }
    }
    return inode
  }
}
