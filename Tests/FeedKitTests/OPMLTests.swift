import FeedKit
import PodcastModel
import Testing

@Suite struct OPMLTests {
  private struct Expected: Decodable {
    struct Feed: Decodable {
      var title: String?
      var url: String
      var folders: [String]
    }

    var feeds: [Feed]
  }

  @Test(arguments: Fixtures.names(in: "opml"))
  func `A real list gives its feeds in order`(name: String) throws {
    let expected = try Fixtures.decoded("expected/opml/\(name).expected.json", as: Expected.self)
    let document = try OPMLDocument.parse(bytes: Fixtures.bytes("opml/" + name))
    #expect(document.feeds.map(\.url.forRequest) == expected.feeds.map(\.url))
    #expect(document.feeds.map(\.title) == expected.feeds.map(\.title))
    #expect(document.feeds.map(\.folders) == expected.feeds.map(\.folders))
    #expect(document.warnings == [])
  }

  @Test func `Bad entries are reported and good ones kept`() throws {
    let text = """
      <opml version="1.0"><head><title> My &amp; list </title></head><body>
      <outline text="Folder"><outline text="Sub"><outline TEXT="A" XMLURL="https://h/a" htmlUrl="https://h/"/>
      </outline></outline><outline text="B &amp b" type="rss" xmlurl="feed://h/b?x=1&y=2"/>
      <outline text="No address" type="rss"/><outline text="Bad" xmlUrl="ftp://h/c"/>
      <outline text="Again" xmlUrl="https://h/a"/><outline text="A note"/><outline type="rss" xmlUrl="pcast://h/d"/>
      </body></opml>
      """
    let document = try OPMLDocument.parse(bytes: Array(text.utf8))
    #expect(document.title == "My & list")
    #expect(
      document.feeds == [
        .init(url: "https://h/a", title: "A", htmlURL: "https://h/", folders: ["Folder", "Sub"]),
        .init(url: "http://h/b?x=1&y=2", title: "B &amp b"), .init(url: "https://h/a", title: "Again"),
        .init(url: "http://h/d"),
      ])
    #expect(
      document.warnings == [
        "repaired: 2 ampersands that were not escaped", "“No address” has no address",
        "“Bad” has an address that is neither http nor https",
      ])
  }

  @Test func `Names with quotes that are not escaped are kept whole`() throws {
    let text = """
      <opml version="2.0"><body><outline type="rss" text="The "Best" Show" xmlUrl="https://h/best"/>
      <outline type="rss" text="Say "hi"" title="Say "hi"" xmlUrl="https://h/hi" htmlUrl="https://h/"/>
      <outline type="rss" text="A="b" c" xmlUrl='https://h/third'/><outline type="rss" text="Lost "one"" /></body></opml>
      """
    let document = try OPMLDocument.parse(bytes: Array(text.utf8))
    #expect(document.feeds.map(\.title) == ["The \"Best\" Show", "Say \"hi\"", "A=\"b\" c"])
    #expect(document.feeds.map(\.url) == ["https://h/best", "https://h/hi", "https://h/third"])
    #expect(document.warnings.contains("“Lost \"one\"” has no address"))
  }

  /// Wherever a list is damaged, each of its entries is a feed, or told by its name.
  @Test func `Whatever is lost is told by its name`() throws {
    func read(_ entries: String) throws -> OPMLDocument {
      try OPMLDocument.parse(bytes: Array("<opml version=\"2.0\"><body>\(entries)".utf8))
    }
    let end = "</body></opml>"
    // A quote is not closed: in the address, the name, the last attribute.
    let address = try read(
      """
      <outline type="rss" text="One" xmlUrl="https://h/1/>
      <outline type="rss" text="Two" xmlUrl="https://h/2"/>\(end)
      """)
    #expect(address.feeds.map(\.url) == ["https://h/1", "https://h/2"])
    #expect(address.feeds.map(\.title) == ["One", "Two"])
    let page = try read(
      """
      <outline text="One" xmlUrl="https://h/1" htmlUrl="https://h/>
      <outline text="Two" xmlUrl="https://h/2"/><outline text="Three" xmlUrl="https://h/3"/>\(end)
      """)
    #expect(page.feeds.map(\.url) == ["https://h/1", "https://h/2", "https://h/3"])
    for attributes in ["", " type=\"rss\""] {
      let name = try read(
        """
        <outline\(attributes) text="Lost one xmlUrl="https://h/1"/>
        <outline\(attributes) text="Two" xmlUrl="https://h/2"/>\(end)
        """)
      #expect(name.feeds.map(\.url) == ["https://h/2"])
      #expect(name.warnings.contains { $0.hasPrefix("“Lost one”") }, "\(name.warnings)")
      #expect(name.refusals == 1)
    }
    // Addresses that nobody says to be a feed's.
    let others = try read(
      """
      <outline text="A link" url="https://h/1"/><outline text="A page" htmlUrl="https://h/"/>
      <outline text="Folder" htmlUrl="https://h/"><outline text="In it" xmlUrl="https://h/2"/></outline>
      <outline text="Misspelt" type="podcast" feedUrl="https://h/3"/><outline text="A note"/>\(end)
      """)
    #expect(others.feeds.map(\.title) == ["In it"])
    #expect(others.warnings.map { String($0.prefix { $0 != "”" }) } == ["“A link", "“A page", "“Misspelt"])
    // Some programs write the episodes of a feed into its outline.
    let episodes = try read(
      """
      <outline type="rss" text="One" xmlUrl="https://h/1">
      <outline type="podcast-episode" text="Episode" url="https://h/e" enclosureUrl="https://h/e.mp3"/></outline>
      <outline text="A link" url="https://h/2"/>\(end)
      """)
    #expect(episodes.feeds.map(\.title) == ["One"])
    #expect(episodes.warnings.map { String($0.prefix { $0 != "”" }) } == ["“A link"])
    // Many are each told.
    let many = try read((0..<300).map { "<outline text=\"Lost \($0)\" type=\"rss\"/>" }.joined() + end)
    #expect(many.warnings.count == 300 && many.refusals == 300)
  }

  @Test func `A list that is cut tells what it was cut in`() throws {
    let start = "<opml version=\"2.0\"><body><outline text=\"One\" xmlUrl=\"https://h/1\"/>\n"
    let last = "<outline type=\"rss\" text=\"Lost two\" title=\"Lost two\" xmlUrl=\"https://h/second/feed\"/>"
    for length in "<outline ".utf8.count..<last.utf8.count {
      let document = try OPMLDocument.parse(bytes: Array(start.utf8) + last.utf8.prefix(length))
      #expect(document.feeds.map(\.url) == ["https://h/1"], "\(last.prefix(length))")
      #expect(document.refusals == 1, "\(last.prefix(length)): \(document.warnings)")
      let isNamed = last.prefix(length).contains("Lost two\"")
      #expect(!isNamed || document.warnings.contains { $0.hasPrefix("“Lost two”") }, "\(document.warnings)")
    }
  }

  @Test(arguments: ["", "text", "<rss><channel/></rss>", "<html><outline xmlUrl='https://h/'/></html>"])
  func `Another document is no list`(text: String) {
    #expect(throws: FeedError.self) { try OPMLDocument.parse(bytes: Array(text.utf8)) }
  }

  @Test func `What is written is read again, whatever the titles hold`() throws {
    let feeds: [OPMLDocument.Feed] = [
      .init(url: "https://h/?a=1&b=%22", title: "Tom & \"Jerry\" <3 'é日😀'", htmlURL: "https://h/"),
      .init(url: "https://u:p@h/feed"), .init(url: "https://h/x", title: "bell\u{7}\u{FFFE}tab\tx"),
    ]
    let text = OPMLDocument(title: "Mine & yours", feeds: feeds).text(created: 1_704_276_000)
    let read = try OPMLDocument.parse(bytes: Array(text.utf8))
    #expect(read.title == "Mine & yours" && read.warnings == [])
    #expect(read.feeds.map(\.url) == feeds.map(\.url))
    #expect(read.feeds.map(\.title) == [feeds[0].title, "https://h/feed", "belltab x"])
    #expect(text.contains("<dateCreated>Wed, 03 Jan 2024 10:00:00 +0000</dateCreated>"))
    #expect(
      text.contains("type=\"rss\" text=") && text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"))
  }

  @Test(arguments: [
    ("https://h/f", "https://h/f"), ("feed:https://h/f", "https://h/f"), ("feed://h/f", "http://h/f"),
    ("feed://https://h/f", "https://h/f"), ("itpc://h/f", "http://h/f"), ("PCAST://h/f", "http://h/f"),
    ("example.org/feed", "https://example.org/feed"), (" https://h/a b ", "https://h/a%20b"),
    ("ftp://h/f", nil), ("javascript:alert(1)", nil), ("words only", nil), ("", nil),
    ("file:///etc/passwd", nil),
    ("mailto:a@b.c", nil), ("feed:", nil), ("https://u:p@h:80/f", "https://u:p@h:80/f"),
    ("https://[::1]:8080/f", "https://[::1]:8080/f"), ("https://h:x/f", nil), ("https://:80/f", nil),
    ("http:///f", nil), ("feed:feed:feed:", nil),
  ])
  func `Addresses of feeds are taken in the forms that people give`(text: String, expected: WebAddress?) {
    #expect(SubscriptionAddress.normalized(text) == expected)
  }
}
