internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What is known of a podcast, for people and for scripts.
struct PodcastInfo {
  let podcast: Podcast
  private let listed: ListedPodcast?
  private let rules: SubscriptionRules
  let newest: Episode?
  private let missing: String?
  let downloads: DownloadCounts
  private let now: Int64

  init(_ id: Int64, _ session: CatalogSession) throws {
    guard let podcast = try session.catalog.podcast(id) else {
      throw CommandFailure("the catalogue no longer has the podcast")
    }
    let listed = try session.catalog.subscriptions().first { $0.podcast.id == id }
    try self.init(podcast, listed, DownloadCounts.all(session)[id], session)
  }

  init(
    _ podcast: Podcast, _ listed: ListedPodcast?, _ downloads: DownloadCounts?, _ session: CatalogSession
  ) throws {
    (self.podcast, self.listed, self.downloads) = (podcast, listed, downloads ?? DownloadCounts())
    rules = listed == nil ? SubscriptionRules() : try session.catalog.effectiveRules(ofPodcast: podcast.id)
    newest = try session.catalog.episodes(ofPodcast: podcast.id).filter { !$0.hidden }
      .max { $0.published < $1.published }
    missing = try session.catalog.missingPages(ofPodcast: podcast.id)
    now = session.catalog.now
  }

  var name: String { listed?.name ?? podcast.name }

  private func shown(_ url: WebAddress) -> String { url.shown(isListed: podcast.isListed) }

  var text: [InfoCommand.Part] {
    let follows = listed.map { "followed as \"\(PrintableText.line($0.name))\"" } ?? "not followed"
    var counts = [
      follows, HumanText.count(podcast.episodeCount, "episode"), "\(podcast.unplayedCount) unplayed",
    ]
    if let hidden = listed?.hiddenCount, hidden > 0 { counts.append("\(hidden) hidden") }
    if downloads.episodes > 0 {
      counts.append("\(downloads.episodes) downloaded (\(HumanText.size(downloads.bytes)))")
    }
    let texts = SubscriptionRules.Key.allCases.compactMap { key in
      rules.text(key).map { "\(key.rawValue)=\($0)" }
    }
    let kinds = [podcast.language].compactMap(\.self) + podcast.categories
    let description = PlainText.text(podcast.description ?? "")
    let parts: [InfoCommand.Part?] = [
      .init(PrintableText.line(podcast.title + (podcast.author.map { " — \($0)" } ?? "")), 2),
      .init(counts.joined(separator: ", "), 2),
      newest.map { .init("newest \(HumanText.ago(now - $0.published)): \($0.title)", 2) },
      .init(refreshes, 2), podcast.error.map { .init(PrintableText.line($0), 2, .red) },
      missing == podcast.error ? nil : missing.map { .init(PrintableText.line($0), 2) },
      texts.isEmpty ? nil : .init("rules  \(texts.joined(separator: ", "))", 7),
      .init("feed   \(shown(podcast.feedURL))"), podcast.link.map { .init("page   \(shown($0))") },
      kinds.isEmpty ? nil : .init("about  \(kinds.joined(separator: ", "))", 7),
      description.isEmpty ? nil : .init("\n\(description)"),
    ]
    return parts.compactMap(\.self)
  }

  private var refreshes: String {
    guard let last = podcast.lastRefresh else { return "not fetched yet" }
    let next = listed == nil ? nil : podcast.nextRefresh.map { $0 - now }
    let due = next.map { $0 > 0 ? ", next in \(HumanText.span($0))" : ", due now" } ?? ""
    return "refreshed \(HumanText.ago(now - last))\(due)"
  }

  var json: JSONValue {
    .members([
      "title": podcast.title, "name": listed?.name, "followed": listed != nil, "author": podcast.author,
      "feed_url": shown(podcast.feedURL), "link": podcast.link.map(shown),
      "image": podcast.imageURL.map(shown), "language": podcast.language, "categories": podcast.categories,
      "explicit": podcast.explicit, "episode_count": podcast.episodeCount,
      "unplayed_count": podcast.unplayedCount, "hidden_count": listed?.hiddenCount ?? 0,
      "downloaded_count": downloads.episodes, "downloaded_bytes": downloads.bytes,
      "newest": newest.map {
        JSONValue.members(["title": $0.title, "published": CivilTime.iso8601($0.published)])
      }, "last_refresh": podcast.lastRefresh.map(CivilTime.iso8601),
      "next_refresh": podcast.nextRefresh.map(CivilTime.iso8601), "error": podcast.error,
      "rules": rules.json,
      "description": podcast.description.map(PlainText.text),
    ])
  }
}

struct DownloadCounts {
  var episodes = 0
  var bytes: Int64 = 0

  /// By podcast.
  static func all(_ session: CatalogSession) throws -> [Int64: DownloadCounts] {
    let cached = try session.statuses().values.filter { $0.state == .cached }
    let entries = try session.catalog.entries(forKeys: cached.map(\.key))
    return cached.reduce(into: [:]) { counts, status in
      guard let podcast = entries[status.key]?.podcast.id else { return }
      counts[podcast, default: DownloadCounts()].episodes += 1
      counts[podcast, default: DownloadCounts()].bytes += status.received
    }
  }
}
