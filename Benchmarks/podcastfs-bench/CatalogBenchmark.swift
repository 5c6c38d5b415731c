internal import Catalog
internal import Configuration
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import HTTPServerKit
internal import PodcastModel
internal import PosixKit

/// A large catalogue: how long it takes to fill by real refreshes from loopback, to open, and to list a podcast
/// when nothing of its file is in memory.
enum CatalogBenchmark {
  static func run(_ arguments: [String]) throws {
    let podcasts = number("--podcasts", in: arguments) ?? 1000
    let episodes = number("--episodes", in: arguments) ?? 1000
    let home = path("--home", in: arguments) ?? "/tmp/podcastfs-bench-catalogue"
    let places = try Places(environment: ["HOME": home, "XDG_RUNTIME_DIR": "\(home)/run"])
    let file = "\(places.data)/catalog.sqlite"
    let http = HTTPClient()
    if access(file, F_OK) != 0 { try fill(places, http, podcasts: podcasts, episodes: episodes) }

    try forget(file)
    let start = MonotonicTime.now
    let catalog = try Catalog(
      places: places, settings: Settings(), http: http, feedReader: .program(FeedBenchmark.program))
    let subscriptions = try catalog.subscriptions()
    _ = try catalog.searches()
    print("open and list \(subscriptions.count) subscriptions, cold: \(milliseconds(since: start))")
    print("memory: \(Memory.now() / 1_048_576) MiB")
    try measureListings(catalog, subscriptions, file)
    let latest = MonotonicTime.now
    _ = try catalog.episodes(selectedBy: .latest(100, days: 0), limit: 100)
    print("latest 100: \(milliseconds(since: latest))")
    try measureSearch(catalog)
    try measureQueries(catalog)
    print("memory: \(Memory.now() / 1_048_576) MiB, at its peak \(Memory.peak() / 1_048_576) MiB")
    catalog.close()
    http.stop()
  }

  /// Listings of podcasts all over the catalogue, each with no page of the file in memory.
  private static func measureListings(
    _ catalog: Catalog, _ subscriptions: [ListedPodcast], _ file: String
  ) throws {
    var slowest = 0.0
    var sum = 0.0
    let step = max(subscriptions.count / 40, 1)
    let chosen = stride(from: 0, to: subscriptions.count, by: step).map { subscriptions[$0].podcast }
    for podcast in chosen {
      try forget(file)
      let start = MonotonicTime.now
      guard try catalog.episodes(ofPodcast: podcast.id).count == podcast.episodeCount else {
        throw PosixError(.EIO, "list", podcast.name)
      }
      let seconds = MonotonicTime.now.seconds(since: start)
      slowest = max(slowest, seconds)
      sum += seconds
    }
    print(
      "list a podcast, cold: \(text(sum / Double(chosen.count))) on average, \(text(slowest)) at the most")
  }

  /// Words that are in nearly all texts, in some, in few and in none; beginnings of words; several words.
  /// The episodes of a folder of `Search/`.
  private static func measureQueries(_ catalog: Catalog) throws {
    let words = WordSource()
    let queries = [
      "is:unplayed", "newer:30d", "is:followed sort:oldest", "longer:1h season:2", "is:started",
      "sort:shortest", "sort:title", "is:followed sort:title", "show:\"podcast\" sort:title",
      "episode:\(words.word(20))", "episode:\(words.word(20_000))", "show:\"podcast 77\"", "person:ann",
    ]
    for text in queries {
      guard let query = try EpisodeQuery(parsing: text) else { continue }
      let start = MonotonicTime.now
      let found = try catalog.episodes(selectedBy: query, limit: query.limit)
      print("  \(text): \(found.count) episodes, \(milliseconds(since: start))")
    }
  }

  /// How many episodes have these words, of the newest fifty.
  private static func found(_ words: String, _ catalog: Catalog) throws -> Int {
    var query = EpisodeQuery()
    query.words = words
    return try catalog.episodes(selectedBy: query, limit: 50).count
  }

  private static func measureSearch(_ catalog: Catalog) throws {
    let start = MonotonicTime.now
    _ = try found("foghorn", catalog)
    print("first full-text search of a process: \(milliseconds(since: start))")
    try catalog.fillTexts()
    print("index filled after \(milliseconds(since: start))")
    let words = WordSource()
    let queries = [
      words.word(0), words.word(20), words.word(2000), words.word(20_000), "zzzzzz", "a", "b", "th",
      "foghorn", "podcast", "p", "s",
      "\(words.word(0)) \(words.word(1))", "\(words.word(0)) \(words.word(3000))",
      "\(words.word(5)) \(words.word(6)) \(words.word(7)) \(words.word(8))", "Episode", "podcast 77",
      "h l t m", (0..<8).map(words.word).joined(separator: " "),
    ]
    var slowest = 0.0
    for query in queries {
      for _ in 0..<3 {
        let start = MonotonicTime.now
        let count = try found(query, catalog)
        let seconds = MonotonicTime.now.seconds(since: start)
        slowest = max(slowest, seconds)
        print("  \(query): \(count) episodes, \(text(seconds))")
      }
    }
    print("full-text search: \(text(slowest)) at the most")
  }

  private static func fill(_ places: Places, _ http: HTTPClient, podcasts: Int, episodes: Int) throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, body: Array(feed(request.path, episodes: episodes).utf8))
    }
    let catalog = try Catalog(
      places: places, settings: Settings(), http: http, feedReader: .program(FeedBenchmark.program))
    let start = MonotonicTime.now
    for number in 0..<podcasts {
      let listed = try catalog.subscribe(feedURL: "\(server.address)/\(number)", title: "Podcast \(number)")
      let _: RefreshOutcome = try wait {
        catalog.refresh(podcast: listed.podcast.id, cause: .firstLook, completion: $0)
      }
    }
    let seconds = MonotonicTime.now.seconds(since: start)
    print("filled: \(podcasts * episodes) episodes in \(Int(seconds)) s")
    catalog.close()
    server.stop()
  }

  private static func feed(_ path: String, episodes: Int) -> String {
    var words = WordSource(seed: UInt64(path.dropFirst()) ?? 0)
    var text = """
      <?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
      <channel><title>Podcast \(path.dropFirst()) \(words.text(3))</title><description>\(words.text(120))</description>

      """
    for number in stride(from: episodes, to: 0, by: -1) {
      text += """
        <item><title>Episode \(number): \(words.text(6))</title><guid>\(path)#\(number)</guid>
        <link>https://example.org\(path)/\(number)</link><itunes:duration>\(1000 + number)</itunes:duration>
        <pubDate>Wed, \(10 + number % 18) Jan \(1990 + number % 30) 10:00:\(10 + number % 50) GMT</pubDate>
        <description>\(words.text(90))\(number == 50 ? "foghorn" : "")</description>
        <enclosure url="https://media.example.org\(path)/\(number).mp3" length="\(20_000_000 + number)" type="audio/mpeg"/>
        </item>

        """
    }
    return text + "</channel></rss>\n"
  }

  /// Drops the file's pages from memory.
  private static func forget(_ path: String) throws {
    for name in [path, path + "-wal"] {
      guard let file = try? FileDescriptor(opening: name, O_RDONLY) else { continue }
      fdatasync(file.rawValue)
      posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    }
  }

  private static func wait<T: Sendable>(
    _ begin: (@escaping @Sendable (Result<T, CatalogError>) -> Void) -> any Cancellable
  ) throws -> T {
    let results = Monitor<[Result<T, CatalogError>]>([])
    _ = begin { result in results.withLockNotifying { $0.append(result) } }
    let result: Result<T, CatalogError>? = results.wait(until: .after(300)) { $0.first }
    guard let result else { throw PosixError(.ETIMEDOUT, "wait for the catalogue") }
    return try result.get()
  }

  private static func milliseconds(since start: MonotonicTime) -> String {
    text(MonotonicTime.now.seconds(since: start))
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 10_000).rounded() / 10) ms" }

  private static func number(_ option: String, in arguments: [String]) -> Int? {
    path(option, in: arguments).flatMap(Int.init)
  }

  private static func path(_ option: String, in arguments: [String]) -> String? {
    guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
    return arguments[index + 1]
  }
}
