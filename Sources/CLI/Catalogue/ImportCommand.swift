internal import Catalog
internal import Glibc
internal import PodcastModel
internal import PosixKit

enum ImportCommand: Command {
  static let name = "import"
  static let summary = "follow all podcasts of a list, or of a link file"
  static let usage = """
    podcastfs import [--json] [--quiet] FILE

    Follows every feed in a list (OPML, or one address a line; -: standard input), or the feed or page that a link file
    names (.desktop, .url, .webloc), and removes none. Bad entries are reported, good ones kept; the status is 1 then.

      --json   {"added", "known", "refused", "problems": []}
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let operands = try arguments.operands()
    guard operands.count == 1 else { throw UsageError("import takes one file") }
    let session = try CatalogSession()
    defer { session.settle() }
    let bytes = try Directories.read(operands[0] == "-" ? "/dev/stdin" : operands[0])
    var outcome: OPMLImport
    do {
      outcome = try session.catalog.importOPML(bytes)
      if let link = outcome.link {
        let isNew = try session.follow(link).isNew
        (outcome.added, outcome.known) = isNew ? (1, 0) : (0, 1)
      }
    } catch {
      throw CommandFailure(of: operands[0], error)
    }
    let isUseless = outcome.added + outcome.known == 0
    if isJSON {
      let json = JSONValue.object([
        ("added", .integer(Int64(outcome.added))), ("known", .integer(Int64(outcome.known))),
        ("refused", .integer(Int64(outcome.refused))), ("problems", .strings(outcome.problems)),
      ])
      StandardStreams.print(json.indentedText)
    } else {
      for problem in outcome.problems { StandardStreams.complain(problem) }
      if isUseless { throw CommandFailure("\(operands[0]) names no feed that can be followed") }
      let refused = outcome.refused > 0 ? ", \(outcome.refused) refused" : ""
      StandardStreams.report("\(outcome.added) added, \(outcome.known) known already\(refused)")
    }
    return outcome.refused > 0 || isUseless ? 1 : 0
  }
}

enum ExportCommand: Command {
  static let name = "export"
  static let summary = "write what is followed as OPML"
  static let usage = """
    podcastfs export [FILE]

    Writes OPML 2.0 to the file or to standard output (-), with whole addresses: those of private feeds hold their
    tokens. A terminal is shown it without what would move its cursor.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    guard operands.count <= 1 else { throw UsageError("export takes one file") }
    let bytes = try CatalogSession().catalog.exportOPML()
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
