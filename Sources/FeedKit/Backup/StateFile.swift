package import PodcastModel

/// All that a new machine needs, as `podcastfs export --state` writes it: JSON (Documentation/Backup.md).
package enum StateFile {
  /// To be raised where an older program could not read it.
  private static let version: Int64 = 1
  private static let mark = "podcastfs_state"

  package static func json(_ state: OPMLDocument) -> JSONValue {
    .object([
      (Self.mark, .integer(Self.version)), ("subscriptions", .array(state.feeds.map(Self.json))),
      ("searches", state.searches.json), ("episodes", .array(state.episodes.map(Self.json))),
    ])
  }

  private static func json(_ feed: OPMLDocument.Feed) -> JSONValue {
    .members([
      "feed_url": feed.url.forRequest, "title": feed.title, "name": feed.name, "private": feed.mayBePrivate,
      "rules": JSONValue.object(
        SubscriptionRules.Key.allCases.compactMap { key in
          feed.rules.text(key).map { (key.rawValue, .string($0)) }
        }),
    ])
  }

  private static func json(_ episode: EpisodeReport) -> JSONValue {
    let listening = episode.listening(duration: nil, margin: 0, time: episode.time) ?? ListeningState()
    return .members([
      "feed_url": episode.podcast.forRequest, "url": episode.address.forRequest, "guid": episode.guid,
      "played": listening.isPlayed,
      "position": listening.position > 0 ? Double(listening.position) / 1000 : nil,
      "last_played": listening.lastPlayed.map(CivilTime.iso8601),
      "changed": listening.changed.map(CivilTime.iso8601), "hidden": episode.isHidden, "keep": episode.isKept,
      "queue": episode.queuePlace > 0 ? episode.queuePlace : nil,
    ])
  }

  static func isOne(_ bytes: UnsafeRawBufferPointer) -> Bool {
    String(decoding: bytes.prefix(256), as: UTF8.self).contains("\"\(mark)\"")
  }

  /// - Returns: nil for any other document.
  static func document(_ bytes: UnsafeRawBufferPointer) throws(FeedError) -> OPMLDocument? {
    guard isOne(bytes), let value = try? JSONValue(parsing: Array(bytes)),
      let version = value[mark]?.wholeNumber
    else { return nil }
    guard version == Self.version else {
      throw .notAList(
        ForeignDocument(backup: "it is of version \(version) of podcastfs's state, which is unknown"))
    }
    var document = OPMLDocument(title: "podcastfs")
    document.isBackup = true
    for entry in value["subscriptions"]?.elements ?? [] {
      guard let address = entry["feed_url"]?.text, let url = SubscriptionAddress.normalized(address) else {
        document.refuse(entry["title"]?.text)
        continue
      }
      var feed = OPMLDocument.Feed(url: url, title: entry["title"]?.text, name: entry["name"]?.text)
      feed.mayBePrivate = entry["private"]?.flag == true
      for key in SubscriptionRules.Key.allCases {
        if let value = entry["rules"]?[key.rawValue]?.text { document.set(key, to: value, of: &feed) }
      }
      document.feeds.append(feed)
    }
    document.searches = (value["searches"]?.elements ?? []).compactMap(\.text)
    document.episodes = (value["episodes"]?.elements ?? []).compactMap(episode)
    return document
  }

  private static func episode(_ value: JSONValue) -> EpisodeReport? {
    guard let podcast = value["feed_url"]?.text, let address = value["url"]?.text else { return nil }
    var episode = EpisodeReport(
      podcast: WebAddress(podcast), address: WebAddress(address), guid: value["guid"]?.text)
    let changed = value["changed"]?.text.flatMap { DateText.seconds($0) }
    let isPlayed = value["played"]?.flag == true
    let seconds = value["position"]?.decimal ?? 0
    let position = (0..<1e12).contains(seconds) ? Int64((seconds * 1000).rounded()) : 0
    if position > 0 || isPlayed || changed != nil {
      episode.state = .exactly(position: position, isPlayed: isPlayed)
    }
    episode.time = changed ?? 0
    episode.lastPlayed = value["last_played"]?.text.flatMap { DateText.seconds($0) } ?? 0
    episode.isHidden = value["hidden"]?.flag == true
    episode.isKept = value["keep"]?.flag == true
    episode.queuePlace = Int(clamping: min(max(value["queue"]?.wholeNumber ?? 0, 0), 100_000))
    return episode.isNews ? episode : nil
  }
}
