import CLI
import Demo
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// What people see, word for word, at three widths.
@Suite(.serialized, .enabled(if: Products.isInstalled("script"), "script(1) makes the terminals"))
struct ScreenSnapshotTests {
  /// A home of a user, and the demonstration's catalogue.
  private final class Catalogue {
    let environment: TestEnvironment
    let demo: DemoCatalogue

    init() throws {
      demo = try DemoCatalogue(port: 0, audioRate: 1_000_000)
      environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": demo.searchURL])
    }

    deinit { demo.stop() }

    func run(_ words: String...) throws {
      let result = try Products.run("podcastfs", words, in: environment)
      try #require(result.end == .exit(0), "\(words) \(result.errors)")
    }

    /// What calls show, each behind its line of a shell. What differs from run to run has one form.
    func screen(_ calls: [String], _ columns: Int) throws -> String {
      try calls.map { call in
        let lines = try CommandsTests.screen(environment, call, columns: columns, hasBlanks: true)
        return "$ podcastfs \(call)\n" + lines.map(masked).joined(separator: "\n")
      }.joined(separator: "\n")
    }

    private func masked(_ line: String) -> String {
      let port = demo.searchURL.drop { !$0.isNumber }.dropFirst("127.0.0.1:".count).prefix { $0.isNumber }
      if line.hasPrefix("refreshed ") { return "refreshed just now, next in 7 days" }
      return line.replacing(environment.home.path, with: "/home/ada").replacing(":\(port)/", with: ":47210/")
        .replacing(#/127.0.0.1:[0-9]{5}/feed/#, with: "127.0.0.1:47211/feed").replacing(
          #/[0-9] years ago/#, with: "2 years ago")
    }
  }

  @Test func ofTheHelp() throws {
    let catalogue = try Catalogue()
    try StoredScreens.check("help") { columns in
      try catalogue.screen(["help", "help get", "help mount", "help find", "help rules"], columns)
    }
  }

  @Test func ofTheCatalogue() throws {
    let catalogue = try Catalogue()
    try StoredScreens.check("empty") { columns in
      try catalogue.screen(["list", "refresh", "new", "queue", "status", "find fog"], columns)
    }
    try catalogue.run("search", "harbour")
    try catalogue.run("subscribe", "1")
    let origin = try OriginServer()
    let ferry = TestFeed(
      "The Night Ferry",
      items: [TestFeed.Item("Ropes", url: origin.url("/1.mp3"), guid: "1", published: 1_704_067_200)])
    let address = origin.serve("/feed", OriginResource(ferry.xml, mediaType: "application/rss+xml"))
    try catalogue.run("subscribe", "--quiet", address)
    origin.change("/feed") { $0.behaviour.status = 404 }
    _ = try Products.run("podcastfs", ["refresh", "--quiet", address], in: catalogue.environment)
    try catalogue.environment.home.write("config/podcastfs/config", "latest_days = 0\n")
    try StoredScreens.check("catalogue") { columns in
      try catalogue.screen(
        [
          "search a", "list", "new", "info 'Harbour Lights'", "info 'The Night Ferry'",
          "refresh 'Harbour Lights'",
          "rules --try 'Harbour Lights' auto_download=2 exclude=fog", "find is:unplayed shorter:19s",
        ], columns)
    }
  }

  @Test(.enabled(if: canMount, "this user cannot mount")) func ofAMount() throws {
    let catalogue = try Catalogue()
    let root = catalogue.environment.home.path("Podcasts")
    try StoredScreens.check("mounting") { columns in
      try catalogue.screen(["mount -o min_free=0", "unmount", "unmount"], columns)
    }
    try catalogue.run("mount", "--quiet", "-o", "min_free=0,latest_days=0,queue_ahead=0,played_margin=3")
    defer { _ = try? Products.run("podcastfs", ["unmount", "--lazy"], in: catalogue.environment) }
    try catalogue.run("search", "harbour")
    try catalogue.run("subscribe", "1")
    let show = "\(root)/Subscriptions/Harbour Lights"
    try catalogue.run("queue", "add", "\(show)/2024-01-10 - Fog on the breakwater.mp3")
    try catalogue.run("queue", "first", "\(show)/2024-01-24 - Tide tables.mp3")
    try catalogue.run("position", "\(show)/2024-01-03 - A quiet harbour.mp3", "0:05")
    try StoredScreens.check("mount") { columns in
      try catalogue.screen(
        [
          "mount", "queue", "info ~/Podcasts/Queue/002*", "info ~/Podcasts/Latest/2024-01-03*.mp3",
          "find fog",
          "unmount --lazy /", "restart /tmp",
        ], columns)
    }
  }

  /// Titles in Japanese, Korean, Arabic and Hebrew, with emoji and with marks of their own.
  @Test(.enabled(if: canMount, "this user cannot mount")) func ofWideTitles() throws {
    let catalogue = try Catalogue()
    let origin = try OriginServer()
    let titles = [
      "第百二十三回：霧の夜に灯台守が語った、港町と船乗りたちの長い長い物語（前編）",
      "👩‍🚀🎧 Frühstück im Weltraum – mit Ärzten, Öl & Überraschungen 🚀🇩🇪",
      "Cafe\u{301} a\u{300} la cre\u{300}me bru\u{302}le\u{301}e",
      "حكايات من الميناء القديم: عن السفن والبحارة والضباب في ليالي الشتاء",
      "סיפורים מהנמל הישן", "등대지기의 밤: 안개 속에서 들려오는 뱃고동 소리와 오래된 이야기들",
    ]
    let feed = TestFeed(
      "深夜の港ラジオ：灯台と霧と船の物語を毎週お届けします", author: "灯台 守",
      items: titles.enumerated().map { place, title in
        TestFeed.Item(
          title, url: origin.url("/\(place).mp3"), guid: "\(place)",
          published: 1_704_067_200 + Int64(place) * 86_400,
          length: 300_000)
      })
    let address = origin.serve("/feed", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    try catalogue.run("subscribe", "--quiet", address)
    try catalogue.environment.home.write("config/podcastfs/config", "latest_days = 0\n")
    try catalogue.run("mount", "--quiet", "-o", "min_free=0,queue_ahead=0")
    try catalogue.run("queue", "add", feed.title)
    try catalogue.run("unmount")
    let statuses = titles.enumerated().map { place, title in
      TransferStatus(
        key: MediaKey(address: "https://harbour.example/\(place)"),
        state: place == 1 ? .failed : .downloading,
        total: 48 << 20, received: Int64(place) << 20, rate: place == 2 ? nil : 1 << 20, eta: 36,
        error: place == 1 ? "港.example は見つかりません" : place == 2 ? "stalled for 12 s" : nil, order: Int64(place),
        title: title, show: feed.title, fileName: "\(title).mp3")
    }
    let list = TransferList(statuses)
    try StoredScreens.check("wide") { columns in
      let screen = try catalogue.screen(
        [
          "list", "new", "queue", "find is:unplayed", "search source:local 灯台",
          "rules --try '\(feed.title)' include=の",
        ], columns)
      let status = LiveDisplay.screen(columns, 24, footer: [list.summary]) { list.entries(columns: $0) }
      let lines = screen.split(separator: "\n").map(String.init) + status.map(\.text)
      for line in lines where !line.hasPrefix("$") { #expect(WideText.columns(line) < columns, "\(line)") }
      return
        (screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + status.map(\.text))
        .joined(separator: "\n")
    }
  }

  @Test func ofErrors() throws {
    let catalogue = try Catalogue()
    _ = try Products.run("podcastfs", ["search", "zeppelin"], in: catalogue.environment)
    try StoredScreens.check("errors") { columns in
      try catalogue.screen(
        [
          "serch fog", "status --wach", "get", "get /etc", "info", "subscribe 1", "subscribe 'Tide tables'",
          "unsubscribe x", "rules x", "mount -o cache_siz=3", "mount -o cache_size=3x", "mount /etc",
          "limit fast",
          "help optons",
          "pause --all",
          "restart", "directory status", "find newer:soon",
        ], columns)
    }
  }

  @Test func ofDownloads() throws {
    func status(
      _ number: UInt8, _ state: TransferState, _ title: String, _ received: Int64, rate: Int64? = nil,
      eta: Int64? = nil, error: String? = nil
    ) -> TransferStatus {
      TransferStatus(
        key: MediaKey(bytes: Array(repeating: number, count: 16))
          ?? MediaKey(address: "https://harbour.example/"), state: state, total: 48 << 20,
        received: received,
        rate: rate, eta: eta, error: error, order: Int64(number), title: title, show: "Harbour Lights",
        fileName: "2024-01-0\(number) - \(title).mp3")
    }
    let list = TransferList(
      [
        status(1, .downloading, "A quiet harbour", 12 << 20, rate: 1 << 20, eta: 36),
        status(
          2, .downloading, "The long road to the harbour, with the lamplighter, part 2", 3 << 20,
          error: "stalled for 12 s"),
        status(3, .queued, "Tide tables", 0), status(4, .paused, "Fog on the breakwater", 24 << 20),
        status(
          5, .failed, "The lamplighter's round", 0, error: "HTTP 404 (not found) from media.harbour.example"),
        status(6, .cached, "Ropes", 48 << 20),
      ])
    try StoredScreens.check("status") { columns in
      LiveDisplay.screen(columns, 24, footer: [list.summary]) { list.entries(columns: $0) }.map(\.text)
        .joined(separator: "\n")
    }
  }

  @Test func ofTheDoctor() throws {
    let findings: [Finding] = [
      .fine("libfuse 3.14.0"),
      .note("for the option allow_other, add the line user_allow_other to /etc/fuse.conf"),
      .problem(
        "the mount on /home/ada/Podcasts is dead: its process has died",
        fix: "podcastfs mount /home/ada/Podcasts, or podcastfs unmount /home/ada/Podcasts"),
    ]
    try StoredScreens.check("doctor") { columns in
      findings.map { ColumnText.wrapped($0.text, columns - 1, hanging: 9) }.joined(separator: "\n")
    }
  }
}
