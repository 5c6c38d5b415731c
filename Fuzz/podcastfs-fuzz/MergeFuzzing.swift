internal import Catalog
internal import Configuration
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit

/// Whatever a feed says from one time to the next, names are given once and stay, nothing vanishes, the counts are those
/// of the tables, and what is forgotten leaves no row. The input is read as several states of a feed.
enum MergeFuzzing {
  /// On a file system in memory: made again for each process.
  private static let catalog: Catalog? = try? open()
  private static let runs = Monitor(0)

  private static func open() throws -> Catalog {
    let home = "/dev/shm/podcastfs-fuzz-\(getpid())"
    let places = try Places(environment: ["HOME": home, "XDG_RUNTIME_DIR": "\(home)/run"])
    atexit { Directories.removeTree("/dev/shm/podcastfs-fuzz-\(getpid())") }
    return try Catalog(places: places, settings: Settings(), http: HTTPClient(), feedReader: .program())
  }

  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let catalog else { preconditionFailure("no catalogue") }
    do {
      let number = runs.withLock { runs in
        runs += 1
        return runs
      }
      var source = ByteSource(bytes)
      let podcast = try catalog.subscribe(feedURL: "http://h.example/\(number)", title: "T").podcast.id
      var stems: [Int64: String] = [:]
      for _ in 0..<4 where !source.isAtEnd {
        let feed = try FeedParser.parse(bytes: Array(document(&source).utf8), baseURL: "http://h.example/")
        try catalog.merge(feed.episodes, into: podcast, now: 1_600_000_000)
        let episodes = try catalog.episodes(ofPodcast: podcast)
        require(Set(episodes.map { UniqueNames.key($0.stem) }).count == episodes.count, "a name given once")
        let count = try catalog.podcast(podcast)?.episodeCount
        require(count == episodes.count, "\(count ?? -1) of \(episodes.count)")
        for (id, stem) in stems {
          require(episodes.contains { $0.id == id && $0.stem == stem }, "that \(stem) stays")
        }
        stems = Dictionary(uniqueKeysWithValues: episodes.map { ($0.id, $0.stem) })
        // Bytes of one address are not shown under an episode that has another.
        for (key, same) in Dictionary(grouping: episodes, by: \.mediaKey) where same.count > 1 {
          require(
            Set(same.map(\.fileExtension)).count == 1 || same.contains(where: \.isReplaced), "\(key)")
        }
        try catalog.merge(feed.episodes, into: podcast, now: 1_600_000_000)
        let again = try catalog.episodes(ofPodcast: podcast)
        require(again == episodes, "that the same again changes nothing")
      }
      _ = try catalog.forget(podcast: podcast)
      let left = try catalog.episodes(ofPodcast: podcast)
      require(left.isEmpty, "that nothing is left")
    } catch {
      require(false, "\(error)")
    }
    return 0
  }

  private static func document(_ source: inout ByteSource) -> String {
    let items = source.traits().enumerated().map { index, traits in
      var text = "<item><title>\(traits.title)</title><enclosure url=\"\(traits.address.forRequest)\"/>"
      if let guid = traits.guid { text += "<guid>\(guid)</guid>" }
      if let time = traits.published { text += "<pubDate>\(CivilTime.rfc822(time))</pubDate>" }
      if traits.fingerprint > 0 { text += "<itunes:duration>\(traits.fingerprint)</itunes:duration>" }
      return text + "<description>\(String(repeating: "word\(index) ", count: index))</description></item>"
    }
    return "<rss><channel><title>T</title>\(items.joined())</channel></rss>"
  }
}
