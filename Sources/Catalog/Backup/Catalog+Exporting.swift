internal import FeedKit
internal import Glibc
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension Catalog {
  /// All subscriptions as OPML 2.0, with the whole addresses: for the owner's eyes only. The date in it is that of its
  /// last change.
  package func exportOPML() throws(CatalogError) -> [UInt8] { try Self.exportOPML(from: store) }

  /// - Parameter tellsPrivate: it says which feeds may be private. The user hands other lists on.
  fileprivate static func exportOPML(
    from store: CatalogStore, tellsPrivate: Bool = false
  ) throws(CatalogError) -> [UInt8] {
    let (feeds, changed) = try store.read { database in
      let count = try database.number("SELECT count(*) FROM subscription") ?? 0
      var followed = try Self.feeds(in: database).map { $0.feed }
      // Rows of a damaged file may be missing: the list is what is left then.
      if tellsPrivate && followed.count < count {
        throw CatalogError(.EIO, "of \(count) subscriptions only \(followed.count) are whole")
      }
      if !tellsPrivate { for place in followed.indices { followed[place].mayBePrivate = false } }
      return (followed, try database.number("SELECT list_changed FROM counter"))
    }
    let list = OPMLDocument(title: "podcastfs subscriptions", feeds: feeds)
    return Array(list.text(created: (changed ?? 0) / 1_000_000_000).utf8)
  }

  package func subscriptionListSize() throws(CatalogError) -> Int64 { Int64(try exportOPML().count) }

  private static func feeds(in database: Database) throws -> [(podcast: Int64, feed: OPMLDocument.Feed)] {
    try database.all(
      """
      SELECT p.id, f.feed_url, p.title, CASE WHEN s.is_own_name THEN s.name END, p.link,
        f.is_private OR f.may_be_private AND f.last_refresh IS NULL, f.may_be_private
      FROM subscription s JOIN \(Podcast.source) AND p.id = s.podcast_id ORDER BY s.name_key
      """
    ) { row in
      var feed = OPMLDocument.Feed(
        url: WebAddress(row.string(1)), title: row.string(2), name: row.stringIfPresent(3),
        htmlURL: row.stringIfPresent(4).map { WebAddress($0) })
      // One that has come from a public host may be private only where its name says that it is.
      feed.mayBePrivate = row.bool(5) || row.bool(6) && feed.url.host.map(PrivateHostName.isPrivate) == true
      return (row.int64(0), feed)
    }
  }

  /// All that a new machine needs but the audio, as JSON (`StateFile`): subscriptions with their rules, searches, and the
  /// episodes that somebody has listened to, hidden, kept or queued. With the whole addresses.
  /// - Parameter kept: the keys of episodes that the transfers keep.
  package func exportState(kept: Set<MediaKey>) throws(CatalogError) -> [UInt8] {
    let state = try store.read { database in
      var feeds: [OPMLDocument.Feed] = []
      for (podcast, var feed) in try Self.feeds(in: database) {
        feed.rules = try RuleRows.rules(ofPodcast: podcast, in: database)
        feeds.append(feed)
      }
      var state = OPMLDocument(feeds: feeds)
      state.searches = try SearchRows.searches(in: database).filter { $0.category == nil }.map(\.name)
      state.episodes = try ExportedEpisodes.all(kept: kept, in: database)
      return state
    }
    return Array(StateFile.json(state).indentedText.utf8) + [UInt8(ascii: "\n")]
  }
}

private enum ExportedEpisodes {
  static func all(kept: Set<MediaKey>, in database: Database) throws -> [EpisodeReport] {
    let places = try PlayQueue(in: database).places
    let orders = Set(try database.numbers("SELECT episode_id FROM keep_order"))
    let held = try EpisodeRows.entries(forKeys: Array(kept), in: database).map(\.episode.id)
    let marked = try database.numbers(
      "SELECT id FROM episode WHERE listening_changed IS NOT NULL UNION SELECT id FROM episode WHERE hidden = 1"
    )
    var feeds: [Int64: WebAddress] = [:]
    var reports: [EpisodeReport] = []
    for episode in try EpisodeRows.episodes(
      Array(Set(marked).union(orders).union(held).union(places.keys)), in: database)
    {
      let feed = try feeds[episode.podcastID] ?? PodcastRecord.load(episode.podcastID, in: database)?.feedURL
      feeds[episode.podcastID] = feed
      guard let feed else { continue }
      var report = EpisodeReport(podcast: feed, address: episode.enclosureURL, guid: episode.guid)
      report.take(episode.listening)
      report.isHidden = episode.hidden
      report.isKept = kept.contains(episode.mediaKey) || orders.contains(episode.id)
      report.queuePlace = places[episode.id] ?? 0
      reports.append(report)
    }
    for var report in try AwaitedReport.all(in: database).map(\.report) {
      let listening = report.listening(duration: nil, margin: AwaitedReport.margin, time: report.time)
      if let listening { report.take(listening) }
      reports.append(report)
    }
    let queued = reports.indices.filter { reports[$0].queuePlace > 0 }
    for (place, index) in queued.sorted(by: { reports[$0].queuePlace < reports[$1].queuePlace }).enumerated()
    {
      reports[index].queuePlace = place + 1
    }
    return reports.sorted {
      ($0.podcast.forRequest, $0.address.forRequest) < ($1.podcast.forRequest, $1.address.forRequest)
    }
  }
}

/// The list of subscriptions in a file beside the catalogue's. A new catalogue takes the subscriptions of a lost one
/// from it.
struct SubscriptionCopy: Sendable {
  let path: String
  static let delay = 1.0
  /// The parser may fail at a list this many times. Then the list is renamed to `.unread`, and nobody reads it again.
  static let mostTries = 10

  init(besides catalogue: String) {
    path = (catalogue.lastIndex(of: "/").map { catalogue[...$0] } ?? "") + "subscriptions.opml"
  }

  /// Writes the list, where it is another than the file's. The file's time says which one it has: that of the list's last
  /// change. Where the disk refuses the file, the next change tries again.
  func update(from store: CatalogStore) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let written = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    let state = try? store.read {
      try $0.first(
        "SELECT list_changed, EXISTS (SELECT 1 FROM subscription) FROM counter WHERE list_read = 1"
      ) { (changed: $0.int64(0), hasAny: $0.bool(1)) }
    }
    // The list is that of the new catalogue, where there is one.
    guard let state = state ?? nil, !store.isReplaced, isThere ? written != state.changed : state.hasAny
    else { return }
    let list: [UInt8]
    do throws(CatalogError) { list = try Catalog.exportOPML(from: store, tellsPrivate: true) } catch {
      return store.log.write("\(path) stays as it was: \(error)")
    }
    guard (try? Directories.replace(path, with: list)) != nil else { return }
    let time = timespec(
      tv_sec: Int(state.changed / 1_000_000_000), tv_nsec: Int(state.changed % 1_000_000_000))
    utimensat(AT_FDCWD, path, [time, time], 0)
  }

  /// Follows what an earlier catalogue followed, once for each catalogue. A process that dies before the end leaves it to the
  /// next one, and so does one that fails for another reason than what is in the file: until then nobody writes the file.
  /// One that holds no whole list, or at which the parser always fails, is moved away, so that it is not written over.
  /// - Returns: what to tell the user; nil where there is nothing to be read.
  func restore(into catalog: Catalog) -> String? {
    let read = try? catalog.store.read { try $0.number("SELECT list_read FROM counter") }
    guard let read = read ?? nil, read <= 0 else { return nil }
    var isDone = true
    defer { if isDone { try? catalog.store.write { try $0.run("UPDATE counter SET list_read = 1") } } }
    guard access(path, F_OK) == 0 else {
      isDone = Errno.current == .ENOENT
      return nil
    }
    do {
      let list = try catalog.importOPML(
        try Directories.readRegular(Directories.target(of: path), limit: OPMLDocument.byteLimit),
        mayBePrivate: true)
      guard let problem = list.problems.first else {
        return list.added == 0 ? nil : "\(told(list)) from \(path)"
      }
      return "\(told(list)), perhaps not all: \(problem): see \(setAside())"
    } catch {
      let failed = "the subscriptions of the earlier one did not come back: \(error): "
      let errno = CatalogError(wrapping: error).errno
      isDone = errno == .EINVAL || errno == .EIO && read <= 1 - Self.mostTries
      if errno == .EIO, !isDone {
        try? catalog.store.write { try $0.run("UPDATE counter SET list_read = list_read - 1") }
      }
      return failed + (isDone ? "see \(setAside())" : "the next command tries again to read \(path)")
    }
  }

  private func told(_ list: OPMLImport) -> String {
    "\(list.added) subscription\(list.added == 1 ? "" : "s") came back"
  }

  private func setAside() -> String {
    let free = Schema.unused(path + ".unread")
    rename(path, free)
    return free
  }
}
