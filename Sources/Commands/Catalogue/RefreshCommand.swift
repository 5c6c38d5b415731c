internal import Catalog
internal import PodcastModel

/// `podcastfs refresh`.
enum RefreshCommand: Command {
  static let name = "refresh"
  static let summary = "fetch feeds now, due or not"
  static let usage = """
    podcastfs refresh [PATH…]

    PATH is a podcast's directory or an episode in a mount, or the name or address of a subscription. Without
    one, all subscriptions are refreshed.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let paths = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    if paths.isEmpty {
      let subscriptions = try session.catalog.subscriptions()
      let names = Dictionary(subscriptions.map { ($0.name, $0.podcast.id) }, uniquingKeysWith: { a, _ in a })
      return subscriptions.map(\.name).forEachReporting { name in
        if let podcast = names[name] { try refresh(podcast, name, session) }
      }
    }
    return paths.forEachReporting { path in try refresh(try session.podcast(at: path), path, session) }
  }

  private static func refresh(_ podcast: Int64, _ name: String, _ session: CatalogSession) throws {
    do {
      let outcome = try session.wait {
        session.catalog.refresh(podcast: podcast, cause: .forced, completion: $0)
      }
      StandardStreams.print("\(name): \(outcome.newEpisodes.count) new")
    } catch let error as CatalogError {
      throw CommandFailure("\(name): \(error)")
    }
  }
}
