internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit
internal import TransferProtocol

/// Where the demonstration keeps things: apart from the user's own, and only while it is mounted.
struct DemoPlaces {
  private let base: String

  /// - Throws: `Places.Unusable` where the user has no runtime directory.
  init() throws { base = try Places().runtime + "-demo" }

  /// Makes them the places of this process and of those that it starts. Only while it has one thread.
  func enter() {
    for name in ["CONFIG", "DATA", "STATE", "CACHE"] {
      setenv("XDG_\(name)_HOME", "\(base)/\(name.lowercased())", 1)
    }
    setenv("XDG_RUNTIME_DIR", base + "/run", 1)
    // The configuration there names the demonstration's.
    unsetenv("PODCASTFS_SEARCH_URL")
  }

  /// Enters them for a command where nothing but the demonstration is mounted, or where its operands lie in it.
  static func enterIfMeant(by words: [String]) {
    guard let demo = try? DemoPlaces(), demo.areInUse, let places = try? Places() else { return }
    let owners = Set(words.compactMap { MountOwner(of: $0, places: places) })
    if MountServer.all(places: places).isEmpty || owners == [.demonstration] { demo.enter() }
  }

  /// Gives the mount and the commands the demonstration's search service, and settings for its old and short episodes.
  func configure(searchURL: String) throws {
    let places = try Places()
    try Directories.create(String(places.configurationFile.dropLast("/config".count)))
    try Directories.replace(
      places.configurationFile,
      with: Array("search_url = \(searchURL)\nlatest_days = 0\nplayed_margin = 3\n".utf8),
      outlivesPower: false)
  }

  /// Waits until a demonstration that was unmounted has taken all of its own away.
  func waitUntilGone() { _ = Waiting.poll(seconds: Self.patience) { access(base, F_OK) == 0 ? nil : true } }

  /// Seconds that a daemon on a busy machine may take to end.
  private static let patience = 30.0

  /// Whether a demonstration of the user's is mounted: it holds the lock.
  var areInUse: Bool {
    guard let lock = try? FileDescriptor(opening: base + "/lock", O_RDWR) else { return false }
    return !lock.tryLock(.shared)
  }

  /// The mount point of the user's demonstration; nil where none is mounted, also where its process has just been killed.
  /// - Throws: `CommandFailure` where a demonstration begins or ends and does not get done with it.
  func living() throws -> String? {
    var variables = Places.processEnvironment
    for name in ["CONFIG", "DATA", "STATE", "CACHE"] {
      variables["XDG_\(name)_HOME"] = "\(base)/\(name.lowercased())"
    }
    let places = try Places(environment: variables)
    let end = Waiting.poll(seconds: Self.patience) { () -> (living: String?, Void)? in
      if !areInUse { return (nil, ()) }
      let points = MountServer.mountPoints(places: places)
      return points.first { MountProbe.look(at: $0) != .dead }.map { ($0, ()) }
    }
    guard let end else { throw Self.inUse }
    return end.living
  }

  static let inUse = CommandFailure("another demonstration is starting or ending: try again")

  /// Makes empty places and enters them.
  /// - Returns: the lock that keeps other demonstrations of the user away.
  func begin() throws -> FileDescriptor {
    try Directories.createPrivate(base)
    let lock = try FileDescriptor(opening: base + "/lock", O_RDWR | O_CREAT)
    guard lock.tryLock(.exclusive) else { throw Self.inUse }
    clear()
    try Directories.createPrivate(base + "/run")
    enter()
    return lock
  }

  /// Leaves nothing behind. The daemon ends when its socket has gone, and may make its folders again until then.
  func end(_ lock: borrowing FileDescriptor) {
    Directories.removeTree(base + "/run")
    _ = Waiting.poll(seconds: Self.patience) { isDaemonAlive ? nil : true }
    _ = Waiting.poll(seconds: Self.patience) { () -> Bool? in
      clear()
      unlink(base + "/lock")
      return rmdir(base) == 0 ? true : nil
    }
  }

  private var isDaemonAlive: Bool {
    let file = DaemonPlace.lockFile(in: base + "/state/podcastfs")
    return (try? FileDescriptor(openingRegular: file, O_RDONLY))?.isLocked ?? false
  }

  private func clear() {
    for name in (try? Directories.names(in: base)) ?? [] where name != "lock" {
      Directories.removeTree("\(base)/\(name)")
    }
  }
}
