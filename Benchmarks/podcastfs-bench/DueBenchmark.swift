internal import Catalog
internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import HTTPServerKit
internal import PodcastModel
internal import PosixKit

/// Many subscriptions that are due at once, whose server says that none has changed: how long they take, how much memory,
/// and how long a folder is waited for meanwhile.
enum DueBenchmark {
  static func run(_ arguments: [String]) throws {
    let count = arguments.first.flatMap(Int.init) ?? 10_000
    let home = "/tmp/podcastfs-bench-due"
    try Directories.createPrivate(home)
    let places = try Places(environment: ["HOME": "\(home)/\(count)", "XDG_RUNTIME_DIR": "\(home)/run"])
    let answers = Monitor((whole: 0, unchanged: 0))
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      let isKnown = request.header("if-none-match") != nil
      answers.withLockNotifying { if isKnown { $0.unchanged += 1 } else { $0.whole += 1 } }
      if isKnown { return try writer.respond(304, body: []) }
      try writer.respond(200, [("ETag", "\"1\"")], body: Array(feed(request.path).utf8))
    }
    let http = HTTPClient()
    let ahead = Monitor<Int64>(0)
    let catalog = try Catalog(
      places: places, settings: Settings(), http: http, feedReader: .program(FeedBenchmark.program),
      clock: { wallClockSeconds() + ahead.withLock { $0 } })
    let begin = MonotonicTime.now
    for number in 0..<count {
      let podcast = try catalog.subscribe(feedURL: "\(server.address)/\(number)", title: "Podcast \(number)")
      catalog.refresh(podcast: podcast.podcast.id, cause: .firstLook)
      // As many as are fetched at once, and a few that wait.
      if number % 16 == 0 { catalog.waitForRefreshes(seconds: 60) }
    }
    catalog.waitForRefreshes(seconds: 600)
    print("\(count) subscriptions fetched in \(MonotonicTime.now.seconds(since: begin)) s")
    let subscriptions = try catalog.subscriptions()

    // The longest time between two refreshes has passed.
    ahead.withLock { $0 = 9 * 86_400 }
    Memory.resetPeak()
    let start = MonotonicTime.now
    catalog.startScheduler()
    var looks: [Double] = []
    while answers.withLock({ $0.unchanged }) < count, MonotonicTime.now.seconds(since: start) < 3600 {
      let look = MonotonicTime.now
      let podcast = subscriptions[Int.random(in: 0..<count)].podcast.id
      _ = try catalog.listedEpisodes(ofPodcast: podcast) { $0.id }
      _ = try catalog.podcast(podcast)
      looks.append(MonotonicTime.now.seconds(since: look) * 1000)
      let _: Bool? = answers.wait(until: .after(0.02)) { $0.unchanged >= count ? true : nil }
    }
    catalog.waitForRefreshes(seconds: 60)
    print("due: \(answers.withLock { $0 }) answers in \(MonotonicTime.now.seconds(since: start)) s")
    looks.sort()
    let parts = [looks.count / 2, looks.count * 99 / 100, looks.count - 1].map { looks[$0] }
    print("a folder's rows meanwhile: median, 99 % and most in ms: \(parts)")
    print("memory: \(Memory.now() / 1_048_576) MiB, at its peak \(Memory.peak() / 1_048_576) MiB")
    catalog.close()
    http.stop()
    server.stop()
  }

  private static func feed(_ path: String) -> String {
    let items = (1...20).map { number in
      """
      <item><title>Episode \(number)</title><guid>\(path)#\(number)</guid>
      <pubDate>Wed, \(number) Jan 2025 10:00:00 GMT</pubDate>
      <enclosure url="https://media.example.org\(path)/\(number).mp3" length="20000000" type="audio/mpeg"/></item>
      """
    }
    return "<rss version=\"2.0\"><channel><title>Podcast \(path)</title>\(items.joined())</channel></rss>"
  }
}
