internal import Catalog
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PodcastTree
internal import PosixKit

enum InfoCommand: Command {
  static let usage = """
    podcastfs info [--json|--window] PATH…

    Of an episode: date, length, state of the download, links, notes and chapters. Of a podcast: description, feed, number of
    episodes, and why its feed cannot be read; the first time it fetches the feed. PATH is in a mount; a podcast may also be
    named by its folder, title or feed's address.

      --window  opens it in the desktop's program for texts
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isWindow = arguments.takeFlag("--window")
    let paths = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    var documents: [JSONValue] = []
    var pages: [[Part]] = []
    let end = Result {
      try paths.forEachReporting { path in
        let (document, text) = try describe(path, session)
        documents.append(document)
        pages.append(text)
      }
    }
    let document = paths.count == 1 ? documents.first ?? .null : .array(documents)
    try StandardStreams.show(document) {
      if isWindow, !pages.isEmpty {
        return try open(pages.map { $0.map(\.text).joined(separator: "\n") }, session.places)
      }
      for (place, page) in pages.enumerated() {
        if place > 0 { StandardStreams.print("") }
        for part in page { StandardStreams.tell(part.text, hanging: part.hanging, part.color) }
      }
    }
    try end.get()
  }

  /// Opens texts in the desktop's program for texts.
  private static func open(_ pages: [String], _ places: Places) throws {
    let file = places.runtime + "/information.txt"
    let text = PrintableText.block(pages.joined(separator: "\n\n\n")) + "\n"
    try Directories.replace(file, with: Array(text.utf8), outlivesPower: false)
    guard let opener = ChildProcess.find("xdg-open"),
      try ChildProcess.wait(ChildProcess.start(opener, [file], isDetached: false)) == 0
    else { throw CommandFailure("no program for texts can be started") }
  }

  struct Part {
    let text: String
    let hanging: Int
    let color: Style.Color?

    init(_ text: String, _ hanging: Int = 0, _ color: Style.Color? = nil) {
      (self.text, self.hanging, self.color) = (text, hanging, color)
    }
  }

  private static func describe(_ path: String, _ session: CatalogSession) throws -> (JSONValue, [Part]) {
    if let row = try episode(at: path, session) {
      guard let episode = try session.catalog.episode(row),
        let podcast = try session.catalog.podcast(episode.podcastID)
      else { throw CommandFailure("\(path): the catalogue no longer has it") }
      let info = try EpisodeInfo(EpisodeEntry(episode: episode, podcast: podcast), path, session)
      return (info.json, info.text)
    }
    let podcast = try session.knownPodcast(path)
    // Where it fails, the information says why.
    _ = try? session.wait { session.catalog.refresh(podcast: podcast, cause: .firstLook, completion: $0) }
    let info = try PodcastInfo(podcast, session)
    return (info.json, info.text)
  }

  /// The number of the episode whose file is at a path, or beside whose file it lies; nil where it is a directory or
  /// nothing.
  private static func episode(at path: String, _ session: CatalogSession) throws -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return try session.node(at: path, with: "state", "an episode")?.row
  }
}
