internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit

enum NewCommand: Command {
  static let usage = """
    podcastfs new [--json]

    Lists the unplayed episodes of your subscriptions, as Latest/ does, the newest first. * marks those that it has not listed
    before.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    _ = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let (settings, file) = (session.settings, session.places.state + "/last-look.json")
    let known = try KnownEpisodes(session)
    let shown = try known.selected(by: .latest(settings.latest, days: settings.latestDays))
    let bytes = try? Directories.read(file, limit: 1 << 20)
    let seen = Set((bytes.flatMap { try? JSONValue(parsing: $0) }?.elements ?? []).compactMap(\.wholeNumber))
    known.show(shown, orSay: "nothing is new") { one in
      let isNew = !seen.contains(one.entry.episode.id)
      return ("new", .bool(isNew), isNew ? "* " : "  ")
    }
    let ids = JSONValue.array(shown.map { .integer($0.entry.episode.id) })
    try? Directories.replace(file, with: Array(ids.compactText.utf8))
  }
}
