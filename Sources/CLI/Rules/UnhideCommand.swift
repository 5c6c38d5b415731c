internal import Catalog
internal import PodcastModel

enum UnhideCommand: Command {
  static let name = "unhide"
  static let summary = "show removed episodes again"
  static let usage = """
    podcastfs unhide [--json] PODCAST…

    Shows all episodes again that were removed from a subscription. PODCAST is a folder, a title or a feed's address.

      --json  a line for each: {"podcast", "shown"}
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let names = try arguments.operands()
    if names.isEmpty { throw UsageError("unhide takes the name of a podcast") }
    let session = try CatalogSession()
    defer { session.settle() }
    return names.forEachReporting { name in
      let podcast = try session.knownPodcast(name)
      let listed = try session.catalog.subscriptions().first { $0.podcast.id == podcast }
      try session.catalog.restoreHidden(podcast: podcast)
      let (name, count) = (listed?.name ?? name, listed?.hiddenCount ?? 0)
      if isJSON {
        StandardStreams.print(
          JSONValue.object([("podcast", .string(name)), ("shown", .integer(Int64(count)))]).compactText)
      } else {
        StandardStreams.report("\(name): \(HumanText.count(count, "episode")) shown again")
      }
    }
  }
}
