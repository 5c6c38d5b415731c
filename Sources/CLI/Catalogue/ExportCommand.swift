internal import Catalog
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum ExportCommand: Command {
  static let name = "export"
  static let summary = "write your subscriptions as OPML, or all of your state"
  static let usage = """
    podcastfs export [--state] [FILE]

    Writes your subscriptions as OPML 2.0, to FILE or to standard output. Addresses of private feeds are whole: they have your
    passwords and tokens.

      --state  writes JSON with all that another machine needs, but no audio: subscriptions, rules, searches, positions, marks,
               hidden and kept episodes, the queue. podcastfs import reads it
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let wantsState = arguments.takeFlag("--state")
    let operands = try arguments.operands(...1, "export takes one file")
    let session = try CatalogSession()
    let bytes =
      try wantsState ? session.catalog.exportState(kept: kept(session)) : session.catalog.exportOPML()
    guard let file = operands.first, file != "-" else {
      StandardStreams.write(shown(bytes, on: StandardStreams.output))
      return 0
    }
    if isDevice(file) {
      // A pipe or a terminal is written to: in its place a file would take its name.
      let device = try FileDescriptor(opening: file, O_WRONLY)
      if let error = StandardStreams.writeAll(shown(bytes, on: device.rawValue), to: device.rawValue) {
        throw CommandFailure("\(file): \(error)")
      }
    } else {
      try Directories.replace(file, with: bytes)
    }
    return 0
  }

  /// What the daemon keeps, or the last one has kept.
  private static func kept(_ session: CatalogSession) throws -> Set<MediaKey> {
    Set(try session.statuses().values.filter(\.isKept).map(\.key))
  }

  /// As it is for files and pipes; a terminal shows it.
  private static func shown(_ bytes: [UInt8], on descriptor: Int32) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return Terminal(descriptor: descriptor).isTerminal ? PrintableText.block(text) : text
  }

  /// Whether it is there and no ordinary file (nor a directory, where writing fails).
  private static func isDevice(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }
}
