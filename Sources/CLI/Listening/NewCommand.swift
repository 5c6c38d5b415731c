internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit

enum NewCommand: Command {
  static let name = "new"
  static let summary = "show what is new and unplayed"
  static let usage = """
    podcastfs new [--json]

    Lists the unplayed episodes of your subscriptions, as Latest/ does, the newest first. * marks those that it has not listed
    before.

      --json   [{"new", "path", "show", "title", "published", "duration", "played", "position", "state"}]
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    guard try arguments.operands().isEmpty else { throw UsageError("new takes no arguments") }
    let session = try CatalogSession()
    defer { session.settle() }
    let settings = session.settings
    let shown = try KnownEpisodes(session).selected(by: .latest(settings.latest, days: settings.latestDays))
    let known = known(in: session.places)
    if isJSON {
      let all = shown.map { $0.json([("new", .bool(!known.contains($0.entry.episode.id)))]) }
      StandardStreams.print(JSONValue.array(all).indentedText)
    } else {
      for one in shown {
        let isKnown = known.contains(one.entry.episode.id)
        StandardStreams.tell((isKnown ? "  " : "* ") + one.text, hanging: isKnown ? 12 : 14)
      }
      if shown.isEmpty { StandardStreams.complain("nothing is new") }
    }
    let ids = JSONValue.array(shown.map { .integer($0.entry.episode.id) })
    try? Directories.replace(file(in: session.places), with: Array(ids.compactText.utf8))
    return 0
  }

  private static func file(in places: Places) -> String { places.state + "/last-look.json" }

  private static func known(in places: Places) -> Set<Int64> {
    let bytes = try? Directories.read(file(in: places), limit: 1 << 20)
    let list = bytes.flatMap { try? JSONValue(parsing: $0) }?.elements ?? []
    return Set(list.compactMap(\.wholeNumber))
  }
}
