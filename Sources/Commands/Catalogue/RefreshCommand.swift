internal import Catalog
internal import PodcastModel

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
    let subscriptions = paths.isEmpty ? try session.catalog.subscriptions() : []
    let names = Dictionary(subscriptions.map { ($0.name, $0.podcast.id) }, uniquingKeysWith: { a, _ in a })
    var outcomes: [JSONValue] = []
    var refreshed: [(name: String, id: Int64)] = []
    let status = (paths.isEmpty ? subscriptions.map(\.name) : paths).forEachReporting { name in
      do {
        let podcast = try names[name] ?? session.podcast(at: name)
        let count = try refresh(podcast, name, session)
        refreshed.append((WebAddress(name).shown, podcast))
        if !isJSON { StandardStreams.report("\(WebAddress(name).shown): \(count) new") }
        outcomes.append(outcome(name, newEpisodes: count, error: nil))
      } catch {
        outcomes.append(outcome(name, newEpisodes: nil, error: "\(error)"))
        throw error
      }
    }
    if isJSON { StandardStreams.print(JSONValue.array(outcomes).indentedText) }
    try session.reportMissing(refreshed)
    return status
  }

  private static func outcome(_ name: String, newEpisodes: Int?, error: String?) -> JSONValue {
    .object([
      ("name", .string(WebAddress(name).shown)),
      ("new_episodes", .optional(newEpisodes)), ("error", .optional(error)),
    ])
  }

  /// - Returns: how many episodes are new.
  private static func refresh(_ podcast: Int64, _ name: String, _ session: CatalogSession) throws -> Int {
    do {
      return try session.wait {
        session.catalog.refresh(podcast: podcast, cause: .forced, completion: $0)
      }.newEpisodes.count
    } catch let error as CatalogError {
      throw CommandFailure("\(WebAddress(name).shown): \(error)")
    }
  }
}
