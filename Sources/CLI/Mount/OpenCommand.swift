internal import Catalog
internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit

/// `podcastfs open`: for desktop files and links.
enum OpenCommand: Command {
  static let name = "open"
  static let summary = "mount, follow a feed or list, open the folder"
  static let worksOnMounts = false
  static let usage = """
    podcastfs open [FEED-URL|FILE.opml…]

    For the desktop: mounts ~/Podcasts where it is not mounted, and opens it in the file manager. Before that it follows the
    podcasts of addresses (also with feed:, pcast: or itpc:) and of lists. Without a terminal, a notification shows what fails.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    if !StandardStreams.errorIsTerminal { StandardStreams.beginNotifying() }
    let mountPoint = try MountPoint.usual()
    if !MountTable.isOurs(mountPoint) || MountProbe.look(at: mountPoint) == .dead {
      _ = try MountCommand.run([mountPoint])
    }
    if MountOwner(of: mountPoint, places: try Places()) == .demonstration { try DemoPlaces().enter() }
    var isWhole = true
    let status = operands.forEachReporting { operand in
      guard let file = file(operand) else { return try follow(operand) }
      if try ImportCommand.run(["--", file]) != 0 { isWhole = false }
    }
    let folder = operands.isEmpty ? mountPoint : mountPoint + "/Subscriptions"
    if let opener = ChildProcess.find("xdg-open"), !isHeadless {
      _ = try ChildProcess.start(opener, [folder])
    } else {
      StandardStreams.report(folder)
    }
    return isWhole ? status : 1
  }

  private static func follow(_ address: String) throws {
    let session = try CatalogSession()
    defer { session.settle() }
    do {
      // A web page may have named it.
      let (listed, isNew) = try session.follow(address, isTyped: false)
      guard isNew else { return }
      StandardStreams.report(listed.name)
      try session.reportMissing([(listed.name, listed.podcast.id)])
    } catch let error as CatalogError {
      throw CommandFailure(of: WebAddress(address).shown, error)
    }
  }

  private static var isHeadless: Bool {
    let environment = Places.processEnvironment
    return environment["DISPLAY"] == nil && environment["WAYLAND_DISPLAY"] == nil
  }

  /// The file that an operand names: a path, or an address as desktops give it (RFC 8089); nil for a feed's.
  private static func file(_ operand: String) -> String? {
    guard let path = operand.hasPrefix("file://") ? operand.dropFirst("file://".count) : nil else {
      return operand.contains(":") && access(operand, F_OK) != 0 ? nil : operand
    }
    // Behind a host's name, which is this machine's.
    return String(decoding: PercentEncoding.decode(path.drop { $0 != "/" }.utf8), as: UTF8.self)
  }
}
