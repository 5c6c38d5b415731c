internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// What is known of a podcast, for people and for scripts.
struct PodcastInfo {
  private let podcast: Podcast
  private let listed: ListedPodcast?
  private let rules: SubscriptionRules
  private let newest: Episode?
  private let missing: String?
  private let downloads: DownloadCounts
  private let now: Int64

  init(_ id: Int64, _ session: CatalogSession) throws {
    guard let podcast = try session.catalog.podcast(id) else {
      throw CommandFailure("the catalogue no longer has the podcast")
    }
    self.podcast = podcast
    listed = try session.catalog.subscriptions().first { $0.podcast.id == id }
    rules = listed == nil ? SubscriptionRules() : try session.catalog.effectiveRules(ofPodcast: id)
    newest = try session.catalog.newestEpisode(ofPodcast: id)
    missing = try session.catalog.missingPages(ofPodcast: id)
    downloads = try DownloadCounts.all(session)[id] ?? DownloadCounts()
    now = session.catalog.now
  }

  private func shown(_ url: WebAddress) -> String { url.shown(isListed: podcast.isListed) }

  var text: [InfoCommand.Part] {
    let title = podcast.title + (podcast.author.map { " — \($0)" } ?? "")
    var parts: [InfoCommand.Part] = [.init(text: PrintableText.line(title), hanging: 2)]
    let follows = listed.map { "followed as \"\(PrintableText.line($0.name))\"" } ?? "not followed"
    var counts = [
      follows, HumanText.count(podcast.episodeCount, "episode"), "\(podcast.unplayedCount) unplayed",
    ]
    if let hidden = listed?.hiddenCount, hidden > 0 { counts.append("\(hidden) hidden") }
    if downloads.episodes > 0 {
      counts.append("\(downloads.episodes) downloaded (\(HumanText.size(downloads.bytes)))")
    }
    parts.append(.init(text: counts.joined(separator: ", "), hanging: 2))
    if let newest {
      let ago = HumanText.ago(now - newest.published)
      parts.append(.init(text: "newest \(ago): \(newest.title)", hanging: 2))
    }
    parts.append(.init(text: refreshes, hanging: 2))
    if let error = podcast.error {
      parts.append(.init(text: PrintableText.line(error), hanging: 2, color: .red))
    }
    if let missing, missing != podcast.error {
      parts.append(.init(text: PrintableText.line(missing), hanging: 2))
    }
    let texts = SubscriptionRules.Key.allCases.compactMap { key in
      rules.text(key).map { "\(key.rawValue)=\($0)" }
    }
    if !texts.isEmpty { parts.append(.init(text: "rules  \(texts.joined(separator: ", "))", hanging: 7)) }
    parts.append(.init(text: "feed   \(shown(podcast.feedURL))"))
    if let link = podcast.link { parts.append(.init(text: "page   \(shown(link))")) }
    let kinds = [podcast.language].compactMap(\.self) + podcast.categories
    if !kinds.isEmpty { parts.append(.init(text: "about  \(kinds.joined(separator: ", "))", hanging: 7)) }
    if let description = podcast.description.map(PlainText.text), !description.isEmpty {
      parts.append(.init(text: "\n\(description)"))
    }
    return parts
  }

  private var refreshes: String {
    guard let last = podcast.lastRefresh else { return "not fetched yet" }
    let next = listed == nil ? nil : podcast.nextRefresh.map { $0 - now }
    let due = next.map { $0 > 0 ? ", next in \(HumanText.span($0))" : ", due now" } ?? ""
    return "refreshed \(HumanText.ago(now - last))\(due)"
  }

  var json: JSONValue {
    .object([
      ("title", .string(podcast.title)), ("name", .optional(listed?.name)),
      ("followed", .bool(listed != nil)),
      ("author", .optional(podcast.author)), ("feed_url", .string(shown(podcast.feedURL))),
      ("link", .optional(podcast.link.map(shown))), ("image", .optional(podcast.imageURL.map(shown))),
      ("language", .optional(podcast.language)), ("categories", .strings(podcast.categories)),
      ("explicit", .optional(podcast.explicit)), ("episode_count", .integer(Int64(podcast.episodeCount))),
      ("unplayed_count", .integer(Int64(podcast.unplayedCount))),
      ("hidden_count", .integer(Int64(listed?.hiddenCount ?? 0))),
      ("downloaded_count", .integer(Int64(downloads.episodes))),
      ("downloaded_bytes", .integer(downloads.bytes)),
      ("newest", PodcastInfo.json(of: newest)),
      ("last_refresh", .optional(podcast.lastRefresh.map(CivilTime.iso8601))),
      ("next_refresh", .optional(podcast.nextRefresh.map(CivilTime.iso8601))),
      ("error", .optional(podcast.error)),
      ("rules", .object(SubscriptionRules.Key.allCases.map { ($0.rawValue, .optional(rules.text($0))) })),
      ("description", .optional(podcast.description.map(PlainText.text))),
    ])
  }

  /// The newest episode of a podcast.
  static func json(of newest: Episode?) -> JSONValue {
    newest.map {
      .object([("title", .string($0.title)), ("published", .string(CivilTime.iso8601($0.published)))])
    } ?? .null
  }
}

/// What is downloaded of a podcast.
struct DownloadCounts {
  var episodes = 0
  var bytes: Int64 = 0

  /// By podcast.
  static func all(_ session: CatalogSession) throws -> [Int64: DownloadCounts] {
    let client = try TransferClient(places: session.places, settings: session.settings, isMount: false)
    defer { client.stop() }
    client.waitUntilCurrent(until: .after(2))
    let cached = client.allStatuses().filter { $0.state == .cached }
    let entries = try session.catalog.entries(forKeys: cached.map(\.key))
    return cached.reduce(into: [:]) { counts, status in
      guard let podcast = entries[status.key]?.podcast.id else { return }
      counts[podcast, default: DownloadCounts()].episodes += 1
      counts[podcast, default: DownloadCounts()].bytes += status.received
    }
  }
}
