internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

/// The attributes of an episode: what each is called, and where its value comes from.
enum EpisodeAttributes {
  private static let prefix = AttributeList.prefix
  /// In the order in which they are listed: of the transfer, of the feed, of freedesktop.org.
  private static let transferNames = [
    "state", "progress", "bytes_received", "bytes_total", "size_source", "rate", "eta", "error", "keep",
  ].map { prefix + $0 }
  private static let factNames =
    [
      "url", "link", "guid", "title", "show", "published", "duration", "season", "episode", "explicit",
      "played", "position", "last_played",
    ].map { prefix + $0 } + [
      "user.mime_type", "user.xdg.origin.url", "user.xdg.referrer.url", "user.xdg.publisher",
      "user.xdg.language", "user.dublincore.title", "user.dublincore.creator", "user.dublincore.date",
      "user.dublincore.identifier", "user.xdg.comment", "user.dublincore.description",
    ]
  private static let transferSet = Set(transferNames)
  private static let known = transferSet.union(factNames).union([tags])

  /// Words that describe an episode, separated by commas (freedesktop.org, common extended attributes). Dolphin has a
  /// column for them.
  static let tags = "user.xdg.tags"

  static func tags(_ listening: ListeningState, _ status: TransferStatus?, isQueued: Bool) -> String? {
    var words: [String] = []
    if !listening.isPlayed { words.append("unplayed") }
    if !listening.isPlayed && listening.position > 0 { words.append("started") }
    if status?.state == .cached { words.append("cached") }
    if status?.isKept ?? false { words.append("kept") }
    if isQueued { words.append("queued") }
    return words.isEmpty ? nil : words.joined(separator: ",")
  }

  static func isKnown(_ name: String) -> Bool { known.contains(name) || isOfHits(name) }

  /// Where an episode says what a search looks for.
  static func isOfHits(_ name: String) -> Bool { hitNames.contains(name) }
  private static let hitNames = ["hits", "hit_text"].map { prefix + $0 }
  private static let mostHits = 50

  /// Nil where it says nothing of the kind.
  static func value(_ name: String, of hits: [TranscriptHit]?) -> String? {
    guard let first = hits?.first else { return nil }
    if name == hitNames[1] { return first.text }
    return hits?.prefix(mostHits).map { seconds($0.start) }.joined(separator: " ")
  }

  /// "751", "751.2".
  private static func seconds(_ milliseconds: Int) -> String {
    let tenths = milliseconds / 100
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
  static func isOfTransfer(_ name: String) -> Bool { transferSet.contains(name) }

  /// All of them, in order.
  static func list(
    _ episode: ListedEpisode, _ detail: EpisodeDetails.Detail, status: TransferStatus?, isQueued: Bool,
    hits: [TranscriptHit]?
  ) -> AttributeList {
    var list = AttributeList()
    for name in transferNames { list.add(plain: name, value(name, episode, status: status)) }
    list.add(plain: tags, tags(detail.entry.episode.listening, status, isQueued: isQueued))
    for name in hitNames { list.add(plain: name, value(name, of: hits)) }
    list.add(detail.facts)
    return list.bounded()
  }

  /// What the attributes of a transfer take at most, in bytes.
  static let transferLimit = 10 * 32 + 800

  /// What the feed says of an episode.
  static func facts(of entry: EpisodeEntry, comment: String?) -> AttributeList {
    var list = AttributeList()
    for name in factNames { list.add(plain: name, value(name, entry, comment)) }
    return list
  }

  private static func value(_ name: String, _ entry: EpisodeEntry, _ comment: String?) -> String? {
    let (episode, podcast) = (entry.episode, entry.podcast)
    return switch name {
    case prefix + "guid", "user.dublincore.identifier": episode.guid.map(PrintableText.line)
    case prefix + "title", "user.dublincore.title": episode.title
    case prefix + "show": podcast.title
    case prefix + "published", "user.dublincore.date":
      episode.isDated ? CivilTime.iso8601(episode.published) : nil
    case prefix + "duration": episode.duration.map { String($0) }
    case prefix + "season": episode.season.map { String($0) }
    case prefix + "episode": episode.episode.map { String($0) }
    case prefix + "explicit": episode.explicit.map { $0 ? "1" : "0" }
    case prefix + "played": episode.played ? "1" : "0"
    case prefix + "position":
      episode.listening.position > 0 ? PositionText.seconds(episode.listening.position) : nil
    case prefix + "last_played": episode.listening.lastPlayed.map(CivilTime.iso8601)
    case prefix + "url", "user.xdg.origin.url": episode.enclosureURL.shown(isListed: podcast.isListed)
    case prefix + "link": episode.link?.shown(isListed: podcast.isListed)
    case "user.xdg.referrer.url": (episode.link ?? podcast.link)?.shown(isListed: podcast.isListed)
    case "user.mime_type": MediaType.type(forFileName: episode.fileName)
    case "user.xdg.publisher", "user.dublincore.creator": podcast.author ?? podcast.title
    case "user.xdg.language": podcast.language
    case "user.xdg.comment", "user.dublincore.description": comment
    default: nil
    }
  }

  /// What is known without the feed's facts.
  static func value(_ name: String, _ episode: ListedEpisode, status: TransferStatus?) -> String? {
    let size = EpisodeSize(episode, status)
    let state = status?.state ?? .remote
    let received = status?.received ?? 0
    switch name.dropFirst(prefix.count) {
    case "state": return state.name
    case "progress":
      if size.source == .estimate { return nil }
      return Progress.text(received: received, total: size.bytes, isComplete: state == .cached)
    case "bytes_received": return String(received)
    case "bytes_total": return size.source == .estimate ? nil : String(size.bytes)
    case "size_source": return size.source.rawValue
    case "rate": return state == .downloading ? status?.rate.map { String($0) } : nil
    case "eta": return state == .downloading ? status?.eta.map { String($0) } : nil
    case "error": return status?.reason
    case "keep": return status?.isKept ?? false ? "1" : "0"
    default: return nil
    }
  }
}

extension PodcastTree {
  /// The attributes of a podcast's directory.
  /// - Parameter rules: of a subscription.
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
