import FeedKit
import PodcastModel
import Testing

/// Documents made to cost more than they should.
@Suite struct HostileFeedTests {
  private func parse(_ text: String, limits: FeedLimits = FeedLimits()) throws -> ParsedFeed {
    try FeedParser.parse(bytes: Array(text.utf8), baseURL: "https://h/", limits: limits)
  }

  private func rss(_ items: String, channel: String = "") -> String {
    "<rss><channel><title>T</title>\(channel)\(items)</channel></rss>"
  }

  private let enclosure = "<enclosure url=\"https://h/1.mp3\"/>"

  @Test(arguments: ["<b/>", "<b>x</b>", "<b href=\"https://h/\">x</b>y", "&amp;<b/>more"])
  func `A text is cut at its limit, whatever follows it`(rest: String) throws {
    let text = String(repeating: "x", count: 1 << 20)
    for wrapped in [text + rest, text.dropLast(2) + rest, text.dropLast() + rest + rest] {
      let feed = try parse(
        rss("<item>\(enclosure)<description>\(wrapped)</description></item>"))
      #expect(feed.episodes[0].notes?.utf8.count ?? 0 <= 1 << 20)
      #expect(feed.episodes[0].notes?.hasPrefix("xxxx") == true)
    }
  }

  @Test func `A text is cut between characters`() throws {
    var limits = FeedLimits()
    limits.text = 8
    let feed = try parse(
      rss("<item>\(enclosure)<description>Grüße aus Köln</description></item>"), limits: limits)
    #expect(feed.episodes[0].notes == "Grüße")
  }

  @Test func `Entities of the document's own cannot blow it up`() throws {
    var text = "<!DOCTYPE rss [<!ENTITY a0 \"\(String(repeating: "e", count: 256))\">"
    for level in 1...9 {
      text += "<!ENTITY a\(level) \"" + String(repeating: "&a\(level - 1);", count: 10) + "\">"
    }
    let feed = try parse(
      text + "]>" + rss("<item>\(enclosure)<title>kept</title><description>&a9;&a0;</description></item>"))
    #expect(feed.episodes.map(\.title) == ["kept"] && feed.episodes[0].notes == "&a9;&a0;")
  }

  @Test func `A long base cannot blow up short addresses`() throws {
    let base = "https://h/" + String(repeating: "b", count: 6000) + "/"
    let items = (0..<20_000).map { "<item><enclosure url=\"\($0)\" type=\"audio/mpeg\"/></item>" }
    let document = "<rss xml:base=\"\(base)\"><channel><title>T</title>\(items.joined())</channel></rss>"
    #expect(throws: FeedError.self) { try FeedReader.shipped.parse(Array(document.utf8), charset: nil) }
  }

  @Test func `Addresses that no server would take are left out`() throws {
    let long = "https://h/" + String(repeating: "a", count: 9000)
    let feed = try parse(
      rss("<item><enclosure url=\"\(long)\"/></item><item>\(enclosure)<link>\(long)</link></item>"))
    #expect(feed.episodes.count == 1 && feed.episodes[0].link == nil)
    #expect(feed.warnings == ["an enclosure has no usable address"])
  }

  @Test func `Titles, guids and names are cut at their own limit`() throws {
    let long = String(repeating: "ä", count: 40_000)
    let feed = try parse(
      rss(
        "<item>\(enclosure)<title>\(long)</title><guid>\(long)</guid></item>",
        channel: "<description>\(long)</description><category>\(long)</category>"))
    #expect(feed.episodes[0].title?.utf8.count == FeedLimits().line)
    #expect(feed.episodes[0].guid?.utf8.count == FeedLimits().line)
    #expect(feed.categories.first?.utf8.count == FeedLimits().line)
    #expect(feed.description?.utf8.count == 80_000)
  }

  @Test func `Of very many episodes the rest is left out`() throws {
    var limits = FeedLimits()
    limits.episodes = 3
    let feed = try parse(rss(String(repeating: "<item>\(enclosure)</item>", count: 5)), limits: limits)
    #expect(feed.episodes.count == 3)
    #expect(feed.warnings == ["has more than 3 episodes: the rest is left out (2 times)"])
  }
}
