internal import Configuration
internal import Demo
internal import Glibc
internal import MountService
internal import PosixKit
internal import TransferProtocol

extension Command {
  static let demo = Command(
    """
    podcastfs demo [-f] [-o OPTIONS] [MOUNTPOINT]

    Mounts a small catalogue of podcasts that needs no network, on ~/Podcasts or MOUNTPOINT. Its downloads are slow, so that
    you can watch them. Search for harbour. While nothing else is mounted, all commands work on the demonstration. podcastfs unmount removes all of
    it.
    """
  ) { arguments in
    let words = arguments.words
    let call = try MountCall(&arguments)
    try call.becomeUser()
    let mountPoint = try call.mountPoint ?? MountPoint.usualPath()
    if call.role == .started {
      return try MountCall.reporting { try DemoPlaces().serve(mountPoint, call.options, $0) }
    }
    if let other = try DemoPlaces().living() {
      guard MountPoint.absolutePath(mountPoint) == other else {
        throw CommandFailure("the demonstration is already mounted on \(other): podcastfs unmount \(other)")
      }
      return StandardStreams.report("The demonstration is already mounted on \(mountPoint)")
    }
    if call.mountPoint == nil { _ = try MountPoint.usual() } else { try MountPoint.make(mountPoint) }
    if call.role == .foreground { return try DemoPlaces().serve(mountPoint, call.options) {} }
    try MountCall.start("demo", words)
    StandardStreams.report("The demonstration is mounted on \(mountPoint). Try:")
    StandardStreams.report("  mkdir \(mountPoint)/Search/harbour")
  }
}

/// Where the demonstration keeps things: apart from the user's own, and only while it is mounted.
struct DemoPlaces {
  private let base: String
  /// Seconds that a daemon on a busy machine may take to end.
  private static let patience = 30.0
  private static let inUse = CommandFailure("another demonstration is starting or ending: try again")

  /// - Throws: `Places.Unusable` where the user has no runtime directory.
  init() throws { base = try Places().runtime + "-demo" }

  private var variables: [String: String] {
    let homes = ["CONFIG", "DATA", "STATE", "CACHE"].map { ("XDG_\($0)_HOME", "\(base)/\($0.lowercased())") }
    return Dictionary(uniqueKeysWithValues: homes + [("XDG_RUNTIME_DIR", base + "/run")])
  }

  /// Makes them the places of this process and of those that it starts. Only while it has one thread.
  private func enter() {
    for (name, value) in variables { setenv(name, value, 1) }
    // The configuration there names the demonstration's.
    unsetenv("PODCASTFS_SEARCH_URL")
  }

  /// Enters them for a command where nothing but the demonstration is mounted, or where its operands lie in it.
  static func enterIfMeant(by words: [String]) {
    guard let demo = try? DemoPlaces(), demo.areInUse, let places = try? Places() else { return }
    let owners = Set(words.compactMap { MountOwner(of: $0, places: places) })
    if MountServer.all(places: places).isEmpty || owners == [.demonstration] { demo.enter() }
  }

  /// Whether a demonstration of the user's is mounted: it holds the lock.
  fileprivate var areInUse: Bool {
    guard let lock = try? FileDescriptor(opening: base + "/lock", O_RDWR) else { return false }
    return !lock.tryLock(.shared)
  }

  /// The mount point of the user's demonstration; nil where none is mounted, also where its process has just been killed.
  /// - Throws: `CommandFailure` where a demonstration begins or ends and does not get done with it.
  fileprivate func living() throws -> String? {
    let places = try Places(environment: variables)
    let end = Waiting.poll(seconds: Self.patience) { () -> (living: String?, Void)? in
      if !areInUse { return (nil, ()) }
      let points = MountServer.mountPoints(places: places)
      return points.first { MountProbe.look(at: $0) != .dead }.map { ($0, ()) }
    }
    guard let end else { throw Self.inUse }
    return end.living
  }

  /// Waits until a demonstration that was unmounted has taken all of its own away.
  func waitUntilGone() { _ = Waiting.poll(seconds: Self.patience) { access(base, F_OK) == 0 ? nil : true } }

  /// Mounts in empty places, with the demonstration's search service and settings for its old and short episodes.
  fileprivate func serve(_ mountPoint: String, _ options: [String], _ ready: () -> Void) throws {
    try Directories.createPrivate(base)
    let lock = try FileDescriptor(opening: base + "/lock", O_RDWR | O_CREAT)
    guard lock.tryLock(.exclusive) else { throw Self.inUse }
    clear()
    try Directories.createPrivate(base + "/run")
    enter()
    defer { end(lock) }
    let catalogue = try DemoCatalogue()
    defer { catalogue.stop() }
    let file = try Places().configurationFile
    try Directories.create(String(file.dropLast("/config".count)))
    let text = "search_url = \(catalogue.searchURL)\nlatest_days = 0\nplayed_margin = 3\n"
    try Directories.replace(file, with: Array(text.utf8), outlivesPower: false)
    try MountProcess(MountRequest(mountPoint: mountPoint, options: options)).run(ready: ready)
  }

  /// Leaves nothing behind. The daemon ends when its socket has gone, and may make its folders again until then.
  private func end(_ lock: borrowing FileDescriptor) {
    Directories.removeTree(base + "/run")
    let daemon = DaemonPlace.lockFile(in: base + "/state/podcastfs")
    _ = Waiting.poll(seconds: Self.patience) { () -> Bool? in
      (try? FileDescriptor(openingRegular: daemon, O_RDONLY))?.isLocked ?? false ? nil : true
    }
    _ = Waiting.poll(seconds: Self.patience) { () -> Bool? in
      clear()
      unlink(base + "/lock")
      return rmdir(base) == 0 ? true : nil
    }
  }

  private func clear() {
    for name in (try? Directories.names(in: base)) ?? [] where name != "lock" {
      Directories.removeTree("\(base)/\(name)")
    }
  }
}

/// Tells whose mount holds a path.
enum MountOwner {
  /// The caller's, with the catalogue and the cache of this call; also where nothing tells.
  case caller
  case otherUser
  case demonstration

  /// nil where the path is in no mount of podcastfs.
  init?(of path: String, places: Places) {
    guard let path = MountPoint.absolutePath(path), let mount = MountTable.mount(holding: path), mount.isOurs
    else { return nil }
    if MountServer.find(mount.mountPoint, places: places) != nil {
      self = .caller
    } else if let user = mount.user, user != geteuid() {
      self = .otherUser
    } else {
      self = (try? DemoPlaces())?.areInUse ?? false ? .demonstration : .caller
    }
  }

  /// - Throws: `CommandFailure` for a path in a mount that is not the caller's own.
  static func check(_ paths: [String], places: Places) throws {
    for path in paths {
      switch MountOwner(of: path, places: places) {
      case .caller, nil: break
      case .otherUser: throw CommandFailure("\(path): another user's mount")
      case .demonstration: throw CommandFailure("\(path): the demonstration's mount")
      }
    }
  }
}
