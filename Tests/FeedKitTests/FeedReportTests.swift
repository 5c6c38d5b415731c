import FeedKit
import FoundationEssentials
import PodcastModel
import Testing

@Suite struct FeedReportTests {
  private let text = """
    <rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>T "1"</title>
    <item><title>A: B</title><guid>g</guid><pubDate>Wed, 03 Jan 2024 10:00:00 GMT</pubDate>
    <itunes:duration>3723</itunes:duration><enclosure url="https://h/a b.m4a" type="audio/x-m4a" length="1048576"/></item>
    <item><title>a: b</title><pubDate>Wed, 03 Jan 2024 11:00:00 GMT</pubDate><enclosure url="https://h/c"/></item>
    <item><enclosure url="https://h/d.ogg"/></item></channel></rss>
    """

  @Test func `The JSON of a feed has the documented keys, in order, and null for what is missing`() throws {
    let report = FeedReport(
      feed: try FeedParser.parse(bytes: Array(text.utf8)), feedURL: "https://h/feed", now: 1_704_412_800)
    let json = report.json.compactText
    #expect(
      json.hasPrefix(
        #"{"title":"T \"1\"","author":null,"link":null,"image":null,"language":null,"feed_url":"https://h/feed""#
      ))
    #expect(
      json.contains(
        #"{"title":"A: B","guid":"g","published":"2024-01-03T10:00:00Z","duration":3723,"name":"2024-01-03 1000 - A - B.m4a","enclosures":[{"url":"https://h/a b.m4a","type":"audio/x-m4a","length":1048576}]"#
      ))
    #expect(
      report.names == ["2024-01-03 1000 - A - B.m4a", "2024-01-03 1100 - a - b.mp3", "2024-01-05 - d.ogg"])
    #expect(json.contains(#"{"title":null,"guid":null,"published":null,"duration":null,"name":"2024-01-05"#))
  }

  @Test func `Names are those of a mount that sees the feed for the first time`() throws {
    let text = """
      <rss><channel><title>T</title>
      <item><title>Same</title><pubDate>Wed, 03 Jan 2024 11:00:00 GMT</pubDate><enclosure url="https://h/1"/></item>
      <item><title>Same</title><pubDate>Wed, 03 Jan 2024 10:00:00 GMT</pubDate><enclosure url="https://h/2"/></item>
      <item><title>Soon</title><pubDate>Wed, 01 Jan 2098 10:00:00 GMT</pubDate><enclosure url="https://h/3"/></item>
      <item><title></title><enclosure url="https://h/4.ogg"/></item></channel></rss>
      """
    let feed = try FeedParser.parse(bytes: Array(text.utf8))
    #expect(
      FeedReport(feed: feed, feedURL: nil, now: 1_704_326_400).names == [
        "2024-01-03 1100 - Same.mp3", "2024-01-03 1000 - Same.mp3", "2024-01-04 002 - Soon.mp3",
        "2024-01-04 001 - 4.ogg",
      ])
  }

  @Test func `An item that stands in a feed twice is shown once`() throws {
    let item = """
      <item><title>Same</title><guid>g</guid><pubDate>Wed, 03 Jan 2024 11:00:00 GMT</pubDate><enclosure url="https://h/1"/></item>
      """
    let feed = try FeedParser.parse(bytes: Array("<rss><channel>\(item)\(item)</channel></rss>".utf8))
    let report = FeedReport(feed: feed, feedURL: nil, now: 1_704_326_400)
    #expect(report.names == ["2024-01-03 - Same.mp3"])
    #expect(report.feed.warnings == ["one item repeats an earlier one: it is left out"])
  }

  @Test func `Addresses are shown without their secrets`() throws {
    let text = """
      <rss><channel><title>T</title><link>https://ann:secret@h/</link><image><url>https://ann:secret@h/i</url></image>
      <item><title>A</title><enclosure url="https://ann:secret@h/1.mp3?token=secret"/></item></channel></rss>
      """
    let feed = try FeedParser.parse(bytes: Array(text.utf8))
    let report = FeedReport(feed: feed, feedURL: "https://ann:secret@h/f", now: 0)
    #expect(!report.json.compactText.contains("secret") && !report.text.contains("secret"))
    #expect(report.json.compactText.contains("https://h/1.mp3?token=***"))
  }

  /// To people, as a mount does; to programs, what the feed has.
  @Test func `The title and the author are shown as they were meant`() throws {
    let text = """
      <rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>Kölner &amp;amp; Bonner</title>
      <itunes:author>Tom &amp;amp; Jerry</itunes:author>
      <item><title>A &amp;lt;b and more</title><enclosure url="https://h/1.mp3"/></item>
      <item><title>1 &amp;lt;b 2 &amp;gt; 0</title><enclosure url="https://h/3.mp3"/></item></channel></rss>
      """
    let feed = try FeedParser.parse(bytes: Array(text.utf8))
    let report = FeedReport(feed: feed, feedURL: nil, now: 1_704_412_800)
    #expect(report.text.hasPrefix("Kölner & Bonner\n  author: Tom & Jerry\n"))
    #expect(feed.title == "Kölner &amp; Bonner")
    #expect(report.names.allSatisfy { $0.contains("b") }, "\(report.names)")
  }

  @Test func `A feed without episodes has valid JSON, and a file that is not there is an error`() throws {
    let report = FeedReport(
      feed: try FeedParser.parse(bytes: Array("<rss><channel/></rss>".utf8)), feedURL: nil, now: 0)
    #expect(report.json.indentedText.hasSuffix("\"episodes\": []\n}"))
    #expect(throws: FeedError.self) { try FeedBody(file: Fixtures.root + "no such file") }
  }

  @Test func `The text of a feed shows its episodes as they will be named`() throws {
    let feed = try FeedParser.parse(bytes: Array(text.utf8))
    let report = FeedReport(feed: feed, feedURL: nil, now: 1_704_412_800)
    #expect(
      report.text == """
        T "1"
        3 episodes
          2024-01-03 1000 - A - B.m4a  (1:02:03, 1.0 MiB)
          2024-01-03 1100 - a - b.mp3
          2024-01-05 - d.ogg
        """)
  }

  @Test(arguments: CorpusTests.feeds)
  func `Real feeds have valid JSON and valid, unique names that do not depend on the run`(name: String) throws
  {
    let feed = try FeedParser.parse(bytes: Fixtures.bytes("feeds/" + name))
    let report = FeedReport(feed: feed, feedURL: nil, now: 0)
    struct Decoded: Decodable {
      struct Episode: Decodable {
        var name: String
        var title: String?
      }
      var episodes: [Episode]
    }
    let decoded = try JSONDecoder().decode(Decoded.self, from: Data(report.json.indentedText.utf8))
    #expect(
      decoded.episodes.map(\.name) == report.names
        && decoded.episodes.map(\.title) == report.feed.episodes.map(\.title))
    #expect(Set(report.names.map(UniqueNames.key)).count == report.names.count)
    for name in report.names {
      #expect(
        name.utf8.count <= 210
          && name.unicodeScalars.allSatisfy { !#"/\:*?"<>|"#.unicodeScalars.contains($0) })
      let stem = name.prefix { _ in true }.split(separator: ".").dropLast().joined(separator: ".")
      #expect(
        !stem.hasSuffix(" ") && !stem.hasSuffix(".")
          && Array(name.unicodeScalars) == Array(name.inNormalizationFormC.unicodeScalars))
    }
    #expect(FeedReport(feed: feed, feedURL: nil, now: 0).names == report.names)
  }
}
