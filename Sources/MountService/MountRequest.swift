internal import Catalog
package import Configuration
internal import Glibc
internal import PodcastModel
internal import PodcastTree
internal import PosixKit

/// A checked call of mount: every error of the call is found here.
package struct MountRequest: Sendable {
  /// What to begin with: a search, a feed's address or an OPML file; nil for nothing.
  let source: String?
  /// Absolute.
  package let mountPoint: String
  package var settings: Settings
  let options: MountOptions
  let places: Places
  let log: LogFile

  /// - Parameter isResumed: whether the mount is there, and taken over.
  package init(source: String?, mountPoint: String, options: [String], isResumed: Bool = false) throws {
    places = try Places()
    let loaded = try Self.load(places, options, isResumed: isResumed)
    settings = loaded.settings
    self.options = loaded.mount
    // A look at it would have to be answered by the process that this one is to become.
    self.mountPoint = isResumed ? mountPoint : try MountPoint.prepare(mountPoint)
    try places.create()
    log = LogFile(places.logFile)
    self.source =
      isResumed ? nil : source.flatMap { Self.emptySources.contains($0) ? nil : Self.absolute($0) }
  }

  /// - Parameter isResumed: then a file with an error is ignored, so that the mount goes on.
  private static func load(
    _ places: Places, _ options: [String], isResumed: Bool
  ) throws -> (settings: Settings, mount: MountOptions) {
    func load(_ file: String) throws -> (settings: Settings, mount: MountOptions) {
      try Settings.load(file: file, environment: Places.processEnvironment, options: options)
    }
    do {
      return try load(places.configurationFile)
    } catch {
      guard isResumed, let rest = try? load("/dev/null") else { throw error }
      LogFile(places.logFile).write("the mount continues without the configuration file: \(error)")
      return rest
    }
  }

  /// What is wrong with the configuration or these options is thrown.
  package static func check(_ options: [String], places: Places) throws {
    _ = try load(places, options, isResumed: false)
  }

  /// Checks the options of a call, and becomes the user whom `setuid` names.
  /// - Parameter mountPoint: nil for the user's own `~/Podcasts`.
  /// - Throws: `MountFailure.Usage` where they can't be understood.
  package static func prepareUser(_ options: [String], mountPoint: String?) throws {
    let name: String?
    do {
      name = try Settings.load(file: "/dev/null", environment: [:], options: options).mount.account
    } catch {
      throw MountFailure.Usage(description: "\(error)")
    }
    guard let name else { return }
    guard let account = Account(name) else { throw MountFailure("setuid=\(name): there is no such user") }
    if let mountPoint { MountPoint.handOver(mountPoint, to: account) }
    try account.become()
  }

  /// Sources that mean nothing, as lines of fstab(5) have them without a device.
  package static let emptySources: Set<String> = ["none", "podcastfs"]

  /// The owner of the files that are shown.
  var owner: Owner {
    Owner(
      user: options.shownUser ?? geteuid(), group: options.shownGroup ?? getegid(), mounter: geteuid(),
      mask: options.mask)
  }

  /// For libfuse and fusermount3.
  var fuseOptions: [String] {
    // The subtype is fixed: commands know the project's mounts by it.
    let given = options.passedOn.filter { $0.key != "subtype" }
    var list = given.map { OptionList.text([$0]) } + ["subtype=podcastfs"]
    if !given.contains(where: { $0.key == "fsname" }) { list.append("fsname=podcastfs") }
    // Must be said here and to the kernel alike.
    list.append("max_read=1048576")
    return list
  }

  /// Whether other users may look into the mount.
  var isShared: Bool { options.passedOn.contains { $0.key == "allow_other" || $0.key == "allow_root" } }

  /// A file's path from the root: the process that stays goes to "/".
  private static func absolute(_ source: String) -> String {
    guard source.lowercased().hasSuffix(".opml"), let resolved = realpath(source, nil) else { return source }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// What mount(8) names as the device: a first search, a feed's address or an OPML file.
enum MountSource {
  /// Sees to it before anything is mounted, so that it can be listed from the first moment on.
  /// - Throws: `MountFailure` for a file that is no list, and for an address that no feed is at: nothing is to be mounted.
  ///   A network that is down is no failure: the next mount, or the next open of the directory, tries again.
  static func begin(_ request: MountRequest, _ catalog: Catalog) throws {
    guard let source = request.source else { return }
    let isAddress = source.hasPrefix("http://") || source.hasPrefix("https://")
    let isList = source.lowercased().hasSuffix(".opml") && !isAddress
    let shown = WebAddress(source).shown
    do {
      if isList {
        _ = try catalog.importOPML(try Directories.read(source))
      } else if isAddress {
        try subscribe(source, catalog)
      } else {
        _ = try wait { catalog.search(source, replacing: nil, completion: $0) }
      }
    } catch let error as CatalogError where error.errno == .EEXIST {
      return
    } catch let error as CatalogError where isForNow(error) && !isList {
      request.log.write("cannot mount \(shown): \(error)")
    } catch {
      throw MountFailure("cannot mount \(shown): \(error)")
    }
  }

  private static func subscribe(_ address: String, _ catalog: Catalog) throws {
    if try catalog.subscription(feedURL: address) != nil { return }
    do {
      _ = try wait { catalog.subscribe(address: address, completion: $0) }
    } catch let error as CatalogError where isForNow(error) {
      _ = try catalog.subscribe(feedURL: address, name: nil)
    }
  }

  /// A search takes ten seconds at the most, and so may a feed.
  private static func wait<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, CatalogError>) -> Void) -> any Cancellable
  ) throws -> Value {
    guard let result = Waiting.result(within: 11, start) else {
      throw CatalogError(.ETIMEDOUT, "no answer")
    }
    return try result.get()
  }

  /// What may be otherwise in a while: the network, the host, the service's limit.
  private static func isForNow(_ error: CatalogError) -> Bool {
    [.ENETUNREACH, .EHOSTUNREACH, .ECONNREFUSED, .ETIMEDOUT, .EAGAIN, .ECONNRESET, .EIO].contains(error.errno)
  }
}
