internal import Catalog
internal import PodcastModel
internal import PosixKit

enum QueueCommand: Command {
  static let usage = """
    podcastfs queue [--json]
    podcastfs queue add|first|remove PATH…
    podcastfs queue clear

    Lists the queue, as Queue/ does; appends episodes, puts them first, removes them, or removes all. PATH is an episode, or a
    folder or the name of a subscription: all episodes directly in it. The cache never evicts what is queued. The next episodes
    are downloaded ahead (queue_ahead). A played episode leaves the queue.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let words = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let paths = words.dropFirst().map(MountedPodcast.path)
    switch (words.first, paths.isEmpty) {
    case (nil, _): try show(session)
    case ("clear", true):
      try session.catalog.removeFromQueue(session.catalog.queueEntries().map(\.episode))
    case ("add", false): try change(paths, session) { try session.catalog.appendToQueue($0) }
    case ("first", false): try change(paths, session) { try session.catalog.putFirstInQueue($0) }
    case ("remove", false): try change(paths, session) { try session.catalog.removeFromQueue($0) }
    default: throw UsageError("queue takes add, first or remove with paths, or clear")
    }
  }

  private static func show(_ session: CatalogSession) throws {
    let entries = try session.catalog.queueEntries()
    let places = Dictionary(entries.map { ($0.episode, $0.place) }, uniquingKeysWith: { first, _ in first })
    let known = try KnownEpisodes(session)
    known.show(try known.all(entries.map(\.episode)), orSay: "the queue is empty") { one in
      let place = places[one.entry.episode.id] ?? 0
      return ("place", .integer(Int64(place)), CivilTime.padded(place, 3) + "  ")
    }
  }

  private static func change(
    _ paths: [String], _ session: CatalogSession, _ body: ([Int64]) throws -> Void
  ) throws {
    let found = MountedEpisode.all(atEach: paths)
    found.report()
    try MountOwner.check(paths, places: session.places)
    let ids = found.episodes.compactMap(\.row).reduce(into: [Int64]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    if !ids.isEmpty { try body(ids) }
    if !found.failures.isEmpty { throw CommandEnd() }
  }
}
