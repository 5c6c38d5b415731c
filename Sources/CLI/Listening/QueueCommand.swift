internal import Catalog
internal import PodcastModel
internal import PosixKit

enum QueueCommand: Command {
  static let name = "queue"
  static let summary = "show or change what is played next"
  static let usage = """
    podcastfs queue [--json]
    podcastfs queue add|first|remove PATH…
    podcastfs queue clear

    Lists the queue, as Queue/ does; appends episodes, puts them first, removes them, or removes all. PATH is an episode, or a
    folder or the name of a subscription: all episodes directly in it. The cache never evicts what is queued. The next episodes are downloaded ahead
    (queue_ahead). A played episode leaves the queue.

      --json   [{"place", "path", "show", "title", "published", "duration", "played", "position", "state"}]
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let words = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let paths = words.dropFirst().map(MountedPodcast.path)
    switch (words.first, paths.isEmpty) {
    case (nil, _): try show(session, isJSON: isJSON)
    case ("clear", true):
      try session.catalog.removeFromQueue(session.catalog.queueEntries().map(\.episode))
    case ("add", false): return try change(paths, session) { try session.catalog.appendToQueue($0) }
    case ("first", false): return try change(paths, session) { try session.catalog.putFirstInQueue($0) }
    case ("remove", false): return try change(paths, session) { try session.catalog.removeFromQueue($0) }
    default: throw UsageError("queue takes add, first or remove with paths, or clear")
    }
    return 0
  }

  private static func show(_ session: CatalogSession, isJSON: Bool) throws {
    let entries = try session.catalog.queueEntries()
    let places = Dictionary(entries.map { ($0.episode, $0.place) }, uniquingKeysWith: { first, _ in first })
    let all = try KnownEpisodes(session).all(entries.map(\.episode))
    if isJSON {
      let list = all.map { one in
        one.json([("place", .integer(Int64(places[one.entry.episode.id] ?? 0)))])
      }
      return StandardStreams.print(JSONValue.array(list).indentedText)
    }
    for one in all {
      let place = CivilTime.padded(places[one.entry.episode.id] ?? 0, 3)
      StandardStreams.tell("\(place)  \(one.text)", hanging: 5)
    }
    if all.isEmpty { StandardStreams.complain("the queue is empty") }
  }

  private static func change(
    _ paths: [String], _ session: CatalogSession, _ body: ([Int64]) throws -> Void
  ) throws -> Int32 {
    let operands = MountedEpisode.all(atEach: paths)
    for (_, failure) in operands.failures { StandardStreams.complain("\(failure)") }
    for path in paths {
      if let stranger = MountOwner.stranger(at: path, places: session.places) {
        throw CommandFailure("\(path): \(stranger)")
      }
    }
    var ids: [Int64] = []
    for id in operands.episodes.compactMap(\.row) where !ids.contains(id) { ids.append(id) }
    if !ids.isEmpty { try body(ids) }
    return operands.failures.isEmpty ? 0 : 1
  }
}
