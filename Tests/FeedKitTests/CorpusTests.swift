import FeedKit
import PodcastModel
import Testing

@Suite struct CorpusTests {
  static let feeds = Fixtures.names(in: "feeds")

  @Test func `The corpus is here`() {
    #expect(Self.feeds.count == 30)
  }

  @Test(arguments: feeds)
  func `A real feed gives the values that independent parsers agree on`(name: String) throws {
    let expected = try Fixtures.decoded("expected/\(name).expected.json", as: ExpectedFeed.self)
    let feed = try FeedParser.parse(bytes: Fixtures.bytes("feeds/" + name))
    if let title = expected.channel.title { #expect(feed.title == title) }
    #expect(feed.episodes.map(\.index) == expected.episodes.map(\.index))
    for (episode, wanted) in zip(feed.episodes, expected.episodes) {
      #expect(wanted.title.allows(episode.title), "\(wanted.index): \(episode.title ?? "-"), \(wanted.title)")
      #expect(wanted.guid.allows(episode.guid), "\(wanted.index): \(episode.guid ?? "-"), \(wanted.guid)")
      let published = episode.published.map(CivilTime.iso8601)
      #expect(wanted.published.allows(published), "\(wanted.index): \(published ?? "-"), \(wanted.published)")
      #expect(wanted.duration.allows(episode.duration), "\(wanted.index): \(wanted.duration)")
      let enclosures = episode.enclosures.map {
        ExpectedFeed.Enclosure(url: $0.address.forRequest, type: $0.type, length: $0.length)
      }
      #expect(wanted.enclosures.allows(enclosures), "\(wanted.index): \(enclosures), \(wanted.enclosures)")
    }
  }

  @Test(arguments: feeds)
  func `A feed that comes compressed is the same feed`(name: String) throws {
    let bytes = try Fixtures.bytes("feeds/" + name)
    #expect(try FeedBody(Compression.gzip(bytes)).bytes() == bytes)
  }
}
