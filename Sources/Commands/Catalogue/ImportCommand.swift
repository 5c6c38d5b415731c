internal import Catalog
internal import PosixKit

/// `podcastfs import`.
enum ImportCommand: Command {
  static let name = "import"
  static let summary = "follow all podcasts of an OPML file"
  static let usage = """
    podcastfs import FILE.opml

    Follows every feed in the list and removes none. Bad entries are told and the good ones kept.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    guard operands.count == 1 else { throw UsageError("import takes one file") }
    let session = try CatalogSession()
    defer { session.settle() }
    let outcome = try session.catalog.importOPML(try Directories.read(operands[0]))
    for problem in outcome.problems { StandardStreams.complain(problem) }
    StandardStreams.print("\(outcome.added) added, \(outcome.known) known already")
    return 0
  }
}

/// `podcastfs export`.
enum ExportCommand: Command {
  static let name = "export"
  static let summary = "write what is followed as OPML"
  static let usage = """
    podcastfs export [FILE]

    Writes OPML 2.0 to the file or to standard output, with whole addresses: those of private feeds hold their
    tokens.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    guard operands.count <= 1 else { throw UsageError("export takes one file") }
    let bytes = try CatalogSession().catalog.exportOPML()
    if let file = operands.first {
      try Directories.replace(file, with: bytes)
    } else {
      StandardStreams.write(String(decoding: bytes, as: UTF8.self))
    }
    return 0
  }
}
