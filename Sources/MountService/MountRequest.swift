package import Configuration
internal import Glibc
internal import PodcastTree
internal import PosixKit

/// A checked call of mount: every error of the call is found here.
package struct MountRequest: Sendable {
  /// Absolute.
  package let mountPoint: String
  package var settings: Settings
  let options: MountOptions
  let places: Places
  let log: LogFile

  /// - Parameter isResumed: whether the mount is there, and taken over.
  package init(mountPoint: String, options: [String], isResumed: Bool = false) throws {
    places = try Places()
    let loaded = try Self.load(places, options, isResumed: isResumed)
    settings = loaded.settings
    self.options = loaded.mount
    // A look at it would have to be answered by the process that this one is to become.
    self.mountPoint = isResumed ? mountPoint : try MountPoint.prepare(mountPoint)
    try places.create()
    log = LogFile(places.logFile)
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
  /// - Throws: `SettingsError` where they can't be understood.
  package static func prepareUser(_ options: [String], mountPoint: String?) throws {
    let loaded = try Settings.load(file: "/dev/null", environment: [:], options: options)
    guard let name = loaded.mount.account else { return }
    guard let account = Account(name) else { throw MountFailure("setuid=\(name): there is no such user") }
    if let mountPoint { MountPoint.handOver(mountPoint, to: account) }
    try account.become()
  }

  var owner: Owner {
    Owner(
      user: options.shownUser ?? geteuid(), group: options.shownGroup ?? getegid(), mounter: geteuid(),
      mask: options.mask)
  }

  var fuseOptions: [String] {
    // The subtype is fixed: commands know the project's mounts by it.
    let given = options.passedOn.filter { $0.key != "subtype" }
    var list = given.map { OptionList.text([$0]) } + ["subtype=podcastfs"]
    if !given.contains(where: { $0.key == "fsname" }) { list.append("fsname=podcastfs") }
    // Must be said here and to the kernel alike.
    list.append("max_read=1048576")
    return list
  }

  var isShared: Bool { options.passedOn.contains { $0.key == "allow_other" || $0.key == "allow_root" } }
}
