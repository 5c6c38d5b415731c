import FeedKit
import PodcastModel
import TestSupport
import Testing

/// A short run of what `Fuzz/` does for longer: real documents with random damage.
@Suite struct MutationTests {
  private static let pieces: [String] = [
    "<", ">", "&", "\"", "'", "]]>", "<![CDATA[", "<!--", "-->", "<item>", "</item>", "</channel>",
    "<!DOCTYPE x [",
    "&#x0;", "&#xD800;", "&nbsp;", "xmlns=''", "<?xml version='1.0' encoding='utf-16'?>", "\u{0}", "\u{FFFE}",
    "<a b=",
    "<enclosure url='", "/>", "<title>", "</rss>", "<rss>", "\u{FEFF}",
  ]

  private func mutated(_ document: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    let length = min(document.count, Int.random(in: 200...6000, using: &random))
    var bytes = Array(document.prefix(length))
    for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, at + Int.random(in: 1...40, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.removeSubrange(at..<end)
      case 2: bytes.insert(contentsOf: Array(bytes[at..<end]), at: at)
      case 3: bytes.insert(contentsOf: Array((Self.pieces.randomElement(using: &random) ?? "").utf8), at: at)
      default: bytes.removeSubrange(at...)
      }
    }
    return bytes
  }

  @Test func `Damaged feeds give a feed or an error, and only usable addresses and names`() throws {
    var random = SeededGenerator(seed: 20240103)
    let documents = try CorpusTests.feeds.map { try Fixtures.bytes("feeds/" + $0) }
    var parsed = 0
    for round in 0..<1500 {
      let bytes = mutated(documents[round % documents.count], &random)
      guard let feed = try? FeedParser.parse(bytes: bytes, baseURL: "https://h/") else { continue }
      parsed += 1
      for enclosure in feed.episodes.lazy.flatMap(\.enclosures) { #expect(enclosure.url.isWeb) }
      let report = FeedReport(feed: feed, feedURL: nil, now: 0)
      #expect(report.names.count == report.feed.episodes.count)
      #expect(report.names.allSatisfy { !$0.contains("/") && $0.utf8.count <= 210 })
    }
    // Most damage leaves something to read.
    #expect(parsed > 1000)
  }

  @Test func `Damaged lists give a list or an error`() throws {
    var random = SeededGenerator(seed: 4)
    let documents = try Fixtures.names(in: "opml").map { try Fixtures.bytes("opml/" + $0) }
    for round in 0..<600 {
      let bytes = mutated(documents[round % documents.count], &random)
      guard let list = try? OPMLDocument.parse(bytes: bytes) else { continue }
      let again = try OPMLDocument.parse(bytes: Array(list.text(created: 0).utf8))
      #expect(again.feeds.map(\.url) == list.feeds.map(\.url))
    }
  }
}
