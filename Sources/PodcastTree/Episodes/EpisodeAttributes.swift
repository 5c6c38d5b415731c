internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

/// The table of an episode's extended attributes. Each row has a name and a function that makes the value.
/// listxattr(2) gives the names in the order of the table.
enum EpisodeAttributes {
  typealias OfTransfer = @Sendable (EpisodeSize, TransferStatus?) -> String?
  private typealias OfFeed = @Sendable (Episode, Podcast) -> String?

  /// By the name without "user.podcastfs.".
  private static let transfer: [(String, OfTransfer)] = [
    ("state", { ($1?.state ?? .remote).name }),
    ("progress", { $0.source == .estimate ? nil : progress($0, $1) }),
    ("bytes_received", { String($1?.received ?? 0) }),
    ("bytes_total", { size, _ in size.source == .estimate ? nil : String(size.bytes) }),
    ("size_source", { size, _ in size.source.rawValue }),
    ("rate", { $1?.state == .downloading ? $1?.rate.map { String($0) } : nil }),
    ("eta", { $1?.state == .downloading ? $1?.eta.map { String($0) } : nil }),
    ("error", { $1?.reason }),
    ("keep", { $1?.isKept ?? false ? "1" : "0" }),
  ]

  private static func progress(_ size: EpisodeSize, _ status: TransferStatus?) -> String {
    Progress.text(received: status?.received ?? 0, total: size.bytes, isComplete: status?.state == .cached)
  }

  /// By the whole name. The notes are cut already.
  private static let feed = own.map { (AttributeList.prefix + $0, $1) } + common
  private static let own: [(String, OfFeed)] = [
    ("url", url), ("link", { $0.link?.shown(isListed: $1.isListed) }), ("guid", guid), ("title", title),
    ("show", { $1.title }), ("published", date), ("duration", { episode, _ in text(episode.duration) }),
    ("season", { episode, _ in text(episode.season) }),
    ("episode", { episode, _ in text(episode.episode) }),
    ("explicit", { episode, _ in episode.explicit.map { $0 ? "1" : "0" } }),
    ("played", { episode, _ in episode.played ? "1" : "0" }),
    ("position", { episode, _ in position(episode.listening.position) }),
    ("last_played", { episode, _ in episode.listening.lastPlayed.map(CivilTime.iso8601) }),
  ]
  /// Those of freedesktop.org and Dublin Core.
  private static let common: [(String, OfFeed)] = [
    ("user.mime_type", { episode, _ in MediaType.type(forFileName: episode.fileName) }),
    ("user.xdg.origin.url", url),
    ("user.xdg.referrer.url", { ($0.link ?? $1.link)?.shown(isListed: $1.isListed) }),
    ("user.xdg.publisher", author), ("user.xdg.language", { $1.language }),
    ("user.dublincore.title", title), ("user.dublincore.creator", author), ("user.dublincore.date", date),
    ("user.dublincore.identifier", guid), ("user.xdg.comment", { episode, _ in episode.notes }),
    ("user.dublincore.description", { episode, _ in episode.notes }),
  ]
  private static let url: OfFeed = { $0.enclosureURL.shown(isListed: $1.isListed) }
  private static let guid: OfFeed = { episode, _ in episode.guid.map(PrintableText.line) }
  private static let title: OfFeed = { episode, _ in episode.title }
  private static let author: OfFeed = { $1.author ?? $1.title }
  private static let date: OfFeed = { episode, _ in
    episode.isDated ? CivilTime.iso8601(episode.published) : nil
  }
  private static func text(_ number: Int?) -> String? { number.map { String($0) } }
  private static func position(_ milliseconds: Int64) -> String? {
    milliseconds > 0 ? PositionText.seconds(milliseconds) : nil
  }

  /// Words that describe an episode, separated by commas (freedesktop.org, common extended attributes). Dolphin has a
  /// column for them.
  static let tags = "user.xdg.tags"
  private static let (hits, hitText) = (AttributeList.prefix + "hits", AttributeList.prefix + "hit_text")
  private static let mostHits = 50

  /// What is known without the feed's facts, by the whole name.
  static let ofTransfer = Dictionary(
    uniqueKeysWithValues: transfer.map { (AttributeList.prefix + $0.0, $0.1) })
  private static let others = Set(feed.map(\.0) + [tags, hits, hitText])
  static func isKnown(_ name: String) -> Bool { ofTransfer[name] != nil || others.contains(name) }

  static func list(
    _ episode: ListedEpisode, _ detail: EpisodeDetails.Detail, status: TransferStatus?, isQueued: Bool,
    hits found: [TranscriptHit]?
  ) -> AttributeList {
    var list = AttributeList()
    let size = EpisodeSize(episode, status)
    for (name, value) in transfer { list.add(name, value(size, status)) }
    list.add(plain: tags, tags(detail.entry.episode.listening, status, isQueued: isQueued))
    let starts = found?.prefix(mostHits).map { PositionText.seconds(Int64($0.start) / 100 * 100) }
    list.add(plain: hits, starts?.joined(separator: " "))
    list.add(plain: hitText, found?.first?.text)
    list.add(detail.facts)
    return list.bounded()
  }

  /// What the attributes of a transfer take at most, in bytes.
  static let transferLimit = 10 * 32 + 800

  static func facts(of entry: EpisodeEntry) -> AttributeList {
    var list = AttributeList()
    for (name, value) in feed { list.add(plain: name, value(entry.episode, entry.podcast)) }
    return list
  }

  private static func tags(
    _ listening: ListeningState, _ status: TransferStatus?, isQueued: Bool
  ) -> String? {
    let words = [
      ("unplayed", !listening.isPlayed), ("started", !listening.isPlayed && listening.position > 0),
      ("cached", status?.state == .cached), ("kept", status?.isKept ?? false), ("queued", isQueued),
    ].filter(\.1).map(\.0)
    return words.isEmpty ? nil : words.joined(separator: ",")
  }
}

extension PodcastTree {
  func attributeList(of podcast: Podcast, in node: NodeID, _ rules: SubscriptionRules? = nil) -> AttributeList
  {
    let (cached, folder) = state.withLock { state in
      (state.views[NodeID(.downloadedPodcast, podcast.id)]?.count ?? 0, state.folders[node])
    }
    var list = AttributeList()
    list.add("feed_url", podcast.feedURL.shown(isListed: podcast.isListed))
    list.add("title", podcast.title)
    list.add("author", podcast.author)
    list.add("link", podcast.link?.shown(isListed: podcast.isListed))
    list.add("language", podcast.language)
    list.add("categories", podcast.categories.isEmpty ? nil : podcast.categories.joined(separator: ", "))
    list.add("image_url", podcast.imageURL?.shown(isListed: podcast.isListed))
    list.add("episode_count", String(podcast.episodeCount))
    list.add("cached_count", String(cached))
    list.add("unplayed_count", String(podcast.unplayedCount))
    list.add("last_refresh", podcast.lastRefresh.map(CivilTime.iso8601))
    list.add("next_refresh", podcast.nextRefresh.map(CivilTime.iso8601))
    list.add("error", podcast.error)
    if node.kind == .subscription { list.add("hidden", String(folder?.hiddenCount ?? 0)) }
    for key in SubscriptionRules.Key.allCases { list.add(key.rawValue, rules?.text(key)) }
    list.add("description", podcast.description.map(PlainText.oneLine))
    return list.bounded()
  }
}

/// The episodes whose attributes were last asked for: programs ask for one attribute after the other.
final class EpisodeDetails: Sendable {
  /// An episode with its podcast; of its notes only as much as attributes show.
  struct Detail: Sendable {
    let entry: EpisodeEntry
    /// The attributes that do not depend on its download.
    let facts: AttributeList
  }
  private struct State {
    var details: [Int64: Detail] = [:]
    /// The last one that was not found here.
    var lastRead: Int64 = 0
  }
  private let state = Monitor(State())
  private static let limit = 256
  /// So many rows are read at once where a program goes from one episode to the next.
  private static let block: Int64 = 16
  /// In bytes.
  private static let notesLength = 400

  static func detail(_ entry: EpisodeEntry) -> Detail {
    var entry = entry
    entry.episode.notes = entry.episode.notes.map { PlainText.oneLine($0).cut(toBytes: notesLength) }
    return Detail(entry: entry, facts: EpisodeAttributes.facts(of: entry))
  }

  /// The rows to read for an episode: its whole block where the last one was near. A podcast's numbers begin with a
  /// multiple of a block.
  func toRead(with id: Int64) -> (first: Int64, count: Int) {
    let isNear = state.withLock { state in
      defer { state.lastRead = id }
      return abs(id - state.lastRead) <= 2 * Self.block
    }
    return isNear ? (id / Self.block * Self.block, Int(Self.block)) : (id, 1)
  }

  func find(_ id: Int64) -> Detail? { state.withLock { $0.details[id] } }

  func store(_ detail: Detail) {
    state.withLock { state in
      if state.details.count >= Self.limit { state.details = [:] }
      state.details[detail.entry.episode.id] = detail
    }
  }

  func forget(_ id: Int64) { state.withLock { _ = $0.details.removeValue(forKey: id) } }

  func forget(podcast: Int64) {
    state.withLock { state in
      state.details = state.details.filter { EpisodeID.podcast(of: $0.key) != podcast }
    }
  }
}
