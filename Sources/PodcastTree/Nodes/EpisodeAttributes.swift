internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// The attributes of an episode: what each is called, and where its value comes from.
struct EpisodeAttributes {
  private let episode: ListedEpisode
  private let detail: EpisodeDetails.Detail
  private let status: TransferStatus?

  init(_ episode: ListedEpisode, _ detail: EpisodeDetails.Detail, status: TransferStatus?) {
    self.episode = episode
    self.detail = detail
    self.status = status
  }

  private static let prefix = AttributeList.prefix
  /// In the order in which they are listed: of the transfer, of the feed, of freedesktop.org.
  private static let transferNames = [
    "state", "progress", "bytes_received", "bytes_total", "size_source", "rate", "eta", "error", "keep",
  ].map { prefix + $0 }
  private static let factNames =
    [
      "url", "guid", "title", "show", "published", "duration", "season", "episode", "explicit", "played",
    ].map { prefix + $0 } + [
      "user.mime_type", "user.xdg.origin.url", "user.xdg.referrer.url", "user.xdg.publisher",
      "user.xdg.language", "user.dublincore.title", "user.dublincore.creator", "user.dublincore.date",
      "user.dublincore.identifier", "user.xdg.comment", "user.dublincore.description",
    ]
  private static let transferSet = Set(transferNames)
  private static let known = transferSet.union(factNames)
  private static let long: Set<String> = [
    prefix + "url", prefix + "guid", prefix + "title", prefix + "show", "user.xdg.origin.url",
    "user.xdg.referrer.url", "user.xdg.publisher", "user.dublincore.title", "user.dublincore.creator",
    "user.dublincore.identifier", "user.xdg.comment", "user.dublincore.description",
  ]

  static func isKnown(_ name: String) -> Bool { known.contains(name) }
  static func isOfTransfer(_ name: String) -> Bool { transferSet.contains(name) }
  /// Whether a value may have to make room for others.
  static func mayBeCut(_ name: String) -> Bool { long.contains(name) }

  var list: AttributeList {
    var list = AttributeList()
    for name in Self.transferNames { list.add(plain: name, Self.value(name, episode, status: status)) }
    for name in Self.factNames { list.add(plain: name, value(name)) }
    return list.bounded()
  }

  func value(_ name: String) -> String? {
    if Self.isOfTransfer(name) { return Self.value(name, episode, status: status) }
    let (episode, podcast) = (detail.entry.episode, detail.entry.podcast)
    return switch name {
    case Self.prefix + "guid", "user.dublincore.identifier": episode.guid
    case Self.prefix + "title", "user.dublincore.title": TitleText.plain(episode.title)
    case Self.prefix + "show": TitleText.plain(podcast.title)
    case Self.prefix + "published", "user.dublincore.date":
      episode.isDated ? CivilTime.iso8601(episode.published) : nil
    case Self.prefix + "duration": episode.duration.map { String($0) }
    case Self.prefix + "season": episode.season.map { String($0) }
    case Self.prefix + "episode": episode.episode.map { String($0) }
    case Self.prefix + "explicit": episode.explicit.map { $0 ? "1" : "0" }
    case Self.prefix + "played": episode.played ? "1" : "0"
    case Self.prefix + "url", "user.xdg.origin.url": episode.enclosureURL.shown(isListed: podcast.isListed)
    case "user.xdg.referrer.url": (episode.link ?? podcast.link)?.shown(isListed: podcast.isListed)
    case "user.mime_type": MediaType.type(forFileName: episode.fileName)
    case "user.xdg.publisher", "user.dublincore.creator": podcast.author ?? podcast.title
    case "user.xdg.language": podcast.language
    case "user.xdg.comment", "user.dublincore.description": detail.comment
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
    case "error": return status?.error
    case "keep": return status?.isKept ?? false ? "1" : "0"
    default: return nil
    }
  }
}

extension PodcastTree {
  /// The attributes of a podcast's directory.
  func attributeList(of podcast: Podcast, in node: NodeID) -> AttributeList {
    let (cached, folder) = world.withLock { world in
      (world.downloads.downloaded[podcast.id]?.episodes.count ?? 0, world.subscriptionByID[node.row])
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
    list.add("last_refresh", podcast.lastRefresh.map(CivilTime.iso8601))
    list.add("next_refresh", podcast.nextRefresh.map(CivilTime.iso8601))
    list.add("error", podcast.error)
    if node.kind == .subscription { list.add("hidden", String(folder?.hiddenCount ?? 0)) }
    list.add("description", podcast.description.map(PlainText.oneLine))
    return list.bounded()
  }
}
