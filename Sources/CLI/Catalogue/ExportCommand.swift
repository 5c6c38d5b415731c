internal import Catalog
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum ExportCommand: Command {
  static let usage = """
    podcastfs export [--state] [FILE]

    Writes your subscriptions as OPML 2.0, to FILE or to standard output. Addresses of private feeds are whole: they have your
    passwords and tokens.

      --state  writes JSON with all that another machine needs, but no audio: subscriptions, rules, searches, positions, marks,
               hidden and kept episodes, the queue. podcastfs import reads it
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let wantsState = arguments.takeFlag("--state")
    let operands = try arguments.operands()
    let session = try CatalogSession()
    let bytes: [UInt8]
    if wantsState {
      // What the daemon keeps, or the last one has kept.
      let kept = try session.statuses().values.filter(\.isKept).map(\.key)
      bytes = try session.catalog.exportState(kept: Set(kept))
    } else {
      bytes = try session.catalog.exportOPML()
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let file = operands.first, file != "-" else {
      // As it is for files and pipes; a terminal shows it.
      return StandardStreams.write(Terminal.output.isTerminal ? PrintableText.block(text) : text)
    }
    var status = stat()
    if stat(file, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
      // A pipe or a device is written to: in its place a file would take its name.
      let device = try FileDescriptor(opening: file, O_WRONLY)
      if let error = StandardStreams.writeAll(text, to: device.rawValue) {
        throw CommandFailure("\(file): \(error)")
      }
    } else {
      try Directories.replace(file, with: bytes)
    }
  }
}
