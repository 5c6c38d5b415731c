internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Sync

enum SyncCommand: Command {
  static let usage = """
    podcastfs sync [--full] [--dry-run] [--json] [--quiet]
    podcastfs sync login URL

    Exchanges subscriptions, positions and played marks with the server in the [sync "URL"] section of the configuration. A mount
    does so automatically. login gets an app password from a Nextcloud and writes the section.

      --full     reads all that the server has, not only what is new
      --dry-run  changes nothing, here or there
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isWhole = arguments.takeFlag("--full")
    let isDry = arguments.takeFlag("--dry-run")
    let words = try arguments.operands()
    if words.first == "login" {
      guard words.count == 2, !isWhole, !isDry else { throw UsageError("sync login takes one address") }
      return try SyncLogin.run(words[1])
    }
    guard words.isEmpty else { throw UsageError("sync takes no arguments but login URL") }
    let session = try CatalogSession()
    defer { session.settle() }
    guard let sync = session.settings.sync else {
      throw CommandFailure(
        "no server to synchronize with: add [sync \"URL\"] to \(session.places.configurationFile), "
          + "or run podcastfs sync login URL")
    }
    let run = SyncRun(
      catalog: session.catalog, places: session.places, settings: session.settings, sync: sync,
      http: session.http,
      now: { wallClockSeconds() })
    guard let outcome = try run.run(.asked, isWhole: isWhole, isDry: isDry) else { return }
    StandardStreams.show(json(outcome, isDry: isDry)) { report(outcome, isDry: isDry) }
  }

  private static func json(_ outcome: SyncOutcome, isDry: Bool) -> JSONValue {
    .members([
      "server": outcome.host, "kind": outcome.kind.rawValue, "dry_run": isDry, "full": outcome.isWhole,
      "subscriptions_added": outcome.added.map(\.shown),
      "subscriptions_removed": outcome.removed.map(\.shown), "episodes": outcome.episodes,
      "uploaded": JSONValue.members([
        "subscriptions": outcome.uploadedFeeds, "unsubscribed": outcome.removedFeeds,
        "episodes": outcome.uploadedEpisodes,
      ]), "awaited": outcome.awaited,
    ])
  }

  private static func report(_ outcome: SyncOutcome, isDry: Bool) {
    for url in outcome.added { StandardStreams.report("follow \(url.shown)") }
    for url in outcome.removed { StandardStreams.report("unfollow \(url.shown)") }
    func counts(_ added: Int, _ removed: Int, _ episodes: Int) -> String {
      let parts = [(added, "new podcast"), (removed, "removed podcast"), (episodes, "episode")]
      let words = parts.filter { $0.0 > 0 }.map { HumanText.count($0.0, $0.1) }
      return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
    let here = counts(outcome.added.count, outcome.removed.count, outcome.episodes)
    let there = counts(outcome.uploadedFeeds, outcome.removedFeeds, outcome.uploadedEpisodes)
    StandardStreams.report("\(isDry ? "would receive" : "received") from \(outcome.host): \(here)")
    StandardStreams.report("\(isDry ? "would send" : "sent") to \(outcome.host): \(there)")
    if outcome.awaited > 0 {
      StandardStreams.report("\(HumanText.count(outcome.awaited, "episode")) not known here yet")
    }
  }
}
