internal import Catalog
internal import PodcastModel
internal import PosixKit

/// `podcastfs refresh`.
enum RefreshCommand: Command {
  static let name = "refresh"
  static let summary = "fetch feeds now, due or not"
  static let usage = """
    podcastfs refresh [--json] [--quiet] [PATH…]

    PATH is a podcast's directory or an episode in a mount, or the name or address of a subscription. Without
    one, all subscriptions are refreshed.

      --json   [{"name", "new_episodes", "error"}]
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let paths = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let feeds = try feeds(paths, session)
    var outcomes: [JSONValue?] = feeds.map { _ in nil }
    var refreshed: [(name: String, id: Int64)] = []
    let refreshes = Refreshes(feeds.map { try? $0.podcast.get() }, session.catalog)
    let status = feeds.indices.map(String.init).forEachReporting { _ in
      let (place, result) = try refreshes.next()
      let feed = feeds[place]
      do {
        let podcast = try feed.podcast.get()
        let count = try result?.get().newEpisodes.count ?? 0
        // The feed's title may have given the folder another name.
        let name = try feed.subscription.flatMap { try session.catalog.subscription($0)?.name } ?? feed.name
        refreshed.append((name, podcast))
        if !isJSON { StandardStreams.report("\(name): \(count) new") }
        outcomes[place] = outcome(name, newEpisodes: count, error: nil)
      } catch {
        let failure = error is CatalogError ? CommandFailure("\(feed.name): \(error)") : error
        outcomes[place] = outcome(feed.name, newEpisodes: nil, error: "\(failure)")
        throw failure
      }
    }
    if isJSON { StandardStreams.print(JSONValue.array(outcomes.compactMap(\.self)).indentedText) }
    try session.reportMissing(refreshed)
    return status
  }

  private struct Feed {
    var name: String
    var podcast: Result<Int64, any Error>
    /// Nil where the user named the podcast himself.
    var subscription: Int64?
  }

  private static func feeds(_ paths: [String], _ session: CatalogSession) throws -> [Feed] {
    if paths.isEmpty {
      return try session.catalog.subscriptions().map {
        Feed(name: $0.name, podcast: .success($0.podcast.id), subscription: $0.id)
      }
    }
    return paths.map { path in
      Feed(name: WebAddress(path).shown, podcast: Result { try session.podcast(at: path) })
    }
  }

  private static func outcome(_ name: String, newEpisodes: Int?, error: String?) -> JSONValue {
    .object([
      ("name", .string(name)),
      ("new_episodes", .optional(newEpisodes)), ("error", .optional(error)),
    ])
  }
}

/// Refreshes of podcasts, some at a time: one that is slow holds up no other.
private final class Refreshes {
  private typealias Ended = (place: Int, result: Result<RefreshOutcome, CatalogError>?)

  private let catalog: Catalog
  private var waiting: ArraySlice<(place: Int, podcast: Int64)>
  private var running = 0
  private let ended: Monitor<[Ended]>
  private static let atOnce = 8
  /// Seconds for one feed: it has a bound of its own, which is shorter.
  private static let patience = 300.0

  /// - Parameter podcasts: nil for one that is none.
  init(_ podcasts: [Int64?], _ catalog: Catalog) {
    self.catalog = catalog
    let numbered = podcasts.enumerated()
    waiting = numbered.compactMap { place, podcast in podcast.map { (place, $0) } }[...]
    ended = Monitor(numbered.filter { $0.element == nil }.map { ($0.offset, nil) })
  }

  /// The next one that has ended, by its place in the list; nil for what was none.
  func next() throws -> (place: Int, result: Result<RefreshOutcome, CatalogError>?) {
    while running < Self.atOnce, let (place, podcast) = waiting.popFirst() {
      running += 1
      catalog.refresh(podcast: podcast, cause: .forced) { [ended] result in
        ended.withLockNotifying { $0.append((place, result)) }
      }
    }
    let next: Ended? = ended.wait(until: .after(Self.patience)) { $0.isEmpty ? nil : $0.removeFirst() }
    guard let next else { throw CommandFailure("no answer within five minutes") }
    if next.result != nil { running -= 1 }
    return next
  }
}
