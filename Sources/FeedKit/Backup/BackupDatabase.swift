internal import PodcastModel
internal import SQLiteKit

/// Reads the databases of other programs: AntennaPod's export and gPodder's `Database`. A stranger may have made them, so
/// that this happens in the confined process only.
final class BackupDatabase {
  /// How a database's file begins (https://sqlite.org/fileformat.html).
  private static let magic = Array("SQLite format 3\0".utf8)
  private static let tables = ["Feeds", "FeedItems", "FeedMedia", "Queue", "Favorites", "podcast", "episode"]
  private let database: Database
  private var document = OPMLDocument()
  /// The addresses of the podcasts that are taken, by their numbers.
  private var feeds: [Int64: WebAddress] = [:]

  private init(_ database: Database) { self.database = database }
  static func isOne(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: magic) }

  static func read(_ bytes: UnsafeRawBufferPointer) throws(FeedError) -> OPMLDocument {
    do {
      let backup = BackupDatabase(try Database(copyOf: bytes))
      try backup.database.distrust(readingOnly: tables)
      backup.document.isBackup = true
      let names = try backup.database.all("SELECT name FROM sqlite_master WHERE type = 'table'") {
        $0.string(0).lowercased()
      }
      if Set(names).isSuperset(of: ["feeds", "feeditems", "feedmedia"]) {
        try backup.readAntennaPod()
        return backup.document
      }
      if Set(names).isSuperset(of: ["podcast", "episode"]) {
        try backup.readGPodder()
        return backup.document
      }
    } catch {
      throw .notAList(ForeignDocument(backup: "\(error)"))
    }
    throw .notAList(ForeignDocument(backup: "it has no tables of AntennaPod or gPodder"))
  }

  /// Calls `body` with each row of a table that is there, and the places of its columns: which there are differs from
  /// version to version.
  private func forEach(_ table: String, _ body: (borrowing Row, [String: Int]) -> Void) throws {
    let names = try database.all("PRAGMA table_info(\(table))") { $0.string(1).lowercased() }
    let places = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    if places.isEmpty { return }
    try database.forEach("SELECT * FROM \(table)") { row in
      body(row, places)
      return true
    }
  }

  private func add(
    _ id: Int64, _ address: String?, title: String?, name: String? = nil, user: String?, password: String?,
    rules: [SubscriptionRules.Key: String] = [:]
  ) {
    guard let url = WebAddress(feed: address, user: user, password: password) else {
      return document.refuse(title)
    }
    feeds[id] = url
    var feed = OPMLDocument.Feed(url: url, title: title, name: name)
    feed.mayBePrivate = true
    for (key, value) in rules { document.set(key, to: value, of: &feed) }
    document.feeds.append(feed)
  }

  private func add(_ episode: EpisodeReport) { if episode.isNews { document.episodes.append(episode) } }
}

extension BackupDatabase {
  /// AntennaPod's database, as its settings export it ("Database export"). Left out: tags, speeds and skips, for which
  /// there is no place; podcasts that were looked at and not followed; folders of the phone.
  private func readAntennaPod() throws {
    document.title = "AntennaPod"
    try forEach("Feeds") { row, at in
      // Of versions before `state` was there, all are followed.
      if row.number(at["state"]) != 0 { return }
      var rules: [SubscriptionRules.Key: String] = [:]
      rules[.include] = row.text(at["include_filter"])
      rules[.exclude] = row.text(at["exclude_filter"])
      let shortest = row.number(at["minimal_duration_filter"])
      if shortest > 0 { rules[.minDuration] = "\(shortest)s" }
      add(
        row.number(at["id"]), row.text(at["download_url"]), title: row.text(at["title"]),
        name: row.text(at["custom_title"]), user: row.text(at["username"]),
        password: row.text(at["password"]), rules: rules)
    }
    var kept: Set<Int64> = []
    try forEach("Favorites") { row, at in kept.insert(row.number(at["feeditem"])) }
    var places: [Int64: Int] = [:]
    try forEach("Queue") { row, at in
      let item = row.number(at["feeditem"])
      places[item] = places[item] ?? places.count + 1
    }
    var items: [Int64: (feed: WebAddress, guid: String?, isRead: Bool)] = [:]
    try forEach("FeedItems") { row, at in
      guard let feed = feeds[row.number(at["feed"])] else { return }
      let guid = row.text(at["item_identifier"])
      items[row.number(at["id"])] = (feed, guid, row.number(at["read"]) == 1)
    }
    // Times are in milliseconds.
    try forEach("FeedMedia") { row, at in
      let id = row.number(at["feeditem"])
      guard let item = items[id], let url = row.text(at["download_url"]) else { return }
      var episode = EpisodeReport(podcast: item.feed, address: WebAddress(url), guid: item.guid)
      let (position, length) = (row.number(at["position"]), row.number(at["duration"]))
      if item.isRead {
        episode.state = .played
      } else if position > 0 {
        episode.state = .position(position, of: length > 0 ? length : nil)
      }
      let played = row.number(at["playback_completion_date"])
      episode.time = max(played, row.number(at["last_played_time"]), 0) / 1000
      episode.isKept = kept.contains(id)
      episode.queuePlace = places[id] ?? 0
      add(episode)
    }
  }

  /// gPodder's `Database` (schema 8, and those before it). An episode that is no longer new was played, or its user does
  /// not want it; what is archived is kept. Left out: sections, for which there is no place.
  private func readGPodder() throws {
    document.title = "gPodder"
    try forEach("podcast") { row, at in
      add(
        row.number(at["id"]), row.text(at["url"]), title: row.text(at["title"]),
        user: row.text(at["auth_username"]), password: row.text(at["auth_password"]))
    }
    try forEach("episode") { row, at in
      guard let feed = feeds[row.number(at["podcast_id"])], let url = row.text(at["url"]) else { return }
      var episode = EpisodeReport(podcast: feed, address: WebAddress(url), guid: row.text(at["guid"]))
      // In seconds.
      let (length, position) = (row.number(at["total_time"]), row.number(at["current_position"]))
      // As gPodder itself counts an episode as finished.
      let isFinished = length > 0 && position * 100 >= length * 99
      if position > 0, !isFinished {
        episode.state = .position(position * 1000, of: length > 0 ? length * 1000 : nil)
      } else if isFinished || row.number(at["is_new"]) == 0 {
        episode.state = .played
      }
      episode.isKept = row.number(at["archive"]) != 0
      episode.time = max(row.number(at["current_position_updated"]), row.number(at["last_playback"]), 0)
      add(episode)
    }
  }
}

extension Row {
  /// nil also where the table has no such column.
  fileprivate func text(_ place: Int?) -> String? { place.flatMap { stringIfPresent($0) } }

  /// 0 also where the table has no such column.
  fileprivate func number(_ place: Int?) -> Int64 { place.map { int64($0) } ?? 0 }
}

extension WebAddress {
  /// The address of a feed in a backup, which keeps its user's name and password apart.
  fileprivate init?(feed address: String?, user: String?, password: String?) {
    guard let address, let feed = SubscriptionAddress.normalized(address) else { return nil }
    guard let user, !user.isEmpty, let parts = feed.parts, parts.userinfo == nil else {
      self = feed
      return
    }
    let secret = PercentEncoding.encode(user) + ":" + PercentEncoding.encode(password ?? "")
    let start = feed.forRequest[..<parts.authority.startIndex]
    self.init("\(start)\(secret)@\(feed.forRequest[parts.authority.startIndex...])")
  }
}
