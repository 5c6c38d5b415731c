internal import Catalog
internal import PodcastModel

/// `podcastfs subscribe`.
enum SubscribeCommand: Command {
  static let name = "subscribe"
  static let summary = "follow podcasts by their feeds' addresses"
  static let usage = """
    podcastfs subscribe FEED-URL…

    Follows the podcasts: each becomes a directory in Subscriptions/. An address may also be that of a web page
    that names its feed, or begin with feed:, pcast: or itpc:.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let addresses = try arguments.operands()
    if addresses.isEmpty { throw UsageError("subscribe to which feed?") }
    let session = try CatalogSession()
    defer { session.settle() }
    return addresses.forEachReporting { address in
      let listed = try session.wait { session.catalog.subscribe(address: address, completion: $0) }
      StandardStreams.print(listed.name)
    }
  }
}

/// `podcastfs unsubscribe`.
enum UnsubscribeCommand: Command {
  static let name = "unsubscribe"
  static let summary = "follow podcasts no longer"
  static let usage = """
    podcastfs unsubscribe NAME|FEED-URL…

    NAME is the directory's in Subscriptions/. Downloads stay until the cache needs the room.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let names = try arguments.operands()
    if names.isEmpty { throw UsageError("unsubscribe from which podcast?") }
    let session = try CatalogSession()
    defer { session.settle() }
    return names.forEachReporting { name in
      try session.catalog.unsubscribe(try session.subscription(name).id)
    }
  }
}

extension [String] {
  /// Does `body` for each; one that fails is told and does not keep the others from being done.
  /// - Returns: the exit status.
  func forEachReporting(_ body: (String) throws -> Void) -> Int32 {
    var status: Int32 = 0
    for item in self {
      do { try body(item) } catch {
        StandardStreams.complain("\(error)")
        status = 1
      }
    }
    return status
  }
}
