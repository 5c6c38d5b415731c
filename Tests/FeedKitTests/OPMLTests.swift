import FeedKit
import PodcastModel
import Testing

@Suite struct OPMLTests {
  private struct Expected: Decodable {
    struct Feed: Decodable {
      var title: String?
      var url: String
    }

    var feeds: [Feed]
  }

  @Test(arguments: Fixtures.names(in: "opml"))
  func `A real list gives its feeds in order`(name: String) throws {
    let expected = try Fixtures.decoded("expected/opml/\(name).expected.json", as: Expected.self)
    let document = try FeedReader.shipped.list(Fixtures.bytes("opml/" + name))
    #expect(document.feeds.map(\.url.forRequest) == expected.feeds.map(\.url))
    #expect(document.feeds.map(\.title) == expected.feeds.map(\.title))
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
    let document = try FeedReader.shipped.list(Array(text.utf8))
    #expect(document.title == "My & list")
    #expect(
      document.feeds == [
        .init(url: "https://h/a", title: "A", htmlURL: "https://h/"),
        .init(url: "http://h/b?x=1&y=2", title: "B &amp b"), .init(url: "https://h/a", title: "Again"),
        .init(url: "http://h/d"),
      ])
    #expect(
      document.warnings == [
        "repaired: an ampersand that was not escaped (2 times)", "“No address” has no address",
        "“Bad” has an address that is neither http nor https",
      ])
  }

  @Test func `Angle brackets in a title lose no entry`() throws {
    let text = """
      <opml><body><outline text="Tom <b>& Jerry" xmlUrl="https://h/1"/>
      <outline text="Lost <i>quote xmlUrl="https://h/2"/><outline text='C' xmlUrl="https://h/3"/></body></opml>
      """
    let document = try FeedReader.shipped.list(Array(text.utf8))
    #expect(document.feeds.first == .init(url: "https://h/1", title: "Tom <b>& Jerry"))
    #expect(document.feeds.last == .init(url: "https://h/3", title: "C"))
  }

  @Test func `Only feeds that are followed are taken`() throws {
    let document = try FeedReader.shipped.list(
      Array(
        """
        <opml version="2.0"><body>
        <outline text="A link" url="https://h/1"/><outline text="A page" htmlUrl="https://h/"/>
        <outline text="Folder" htmlUrl="https://h/"><outline text="In it" xmlUrl="https://h/2"/></outline>
        <outline type="rss" text="One" xmlUrl="https://h/4">
        <outline type="podcast-episode" text="Episode" url="https://h/e" enclosureUrl="https://h/e.mp3"/></outline>
        <outline type="rss" text="Not followed" xmlUrl="https://h/5" subscribed="0"/></body></opml>
        """.utf8))
    #expect(document.feeds.map(\.title) == ["In it", "One"] && document.warnings == [])
  }

  @Test func `A list that is cut keeps what came whole`() throws {
    let start = "<opml version=\"2.0\"><body><outline text=\"One\" xmlUrl=\"https://h/1\"/>\n"
    let last = "<outline type=\"rss\" text=\"Lost two\" title=\"Lost two\" xmlUrl=\"https://h/second/feed\"/>"
    for length in stride(from: 9, to: last.utf8.count, by: 7) {
      let document = try FeedReader.shipped.list(Array(start.utf8) + last.utf8.prefix(length))
      #expect(document.feeds.map(\.url) == ["https://h/1"], "\(last.prefix(length))")
    }
  }

  @Test(arguments: [
    "https://h/a\r\n\r\n# a comment\n  https://h/b  \n", "\u{FEFF}https://h/a\nhttps://h/b",
  ])
  func `A list may be an address a line`(text: String) throws {
    let document = try FeedReader.shipped.list(Array(text.utf8))
    #expect(document.feeds.map(\.url) == ["https://h/a", "https://h/b"] && document.refusals == 0)
  }

  @Test func `A text of which most lines are no addresses is no list`() throws {
    let list = try FeedReader.shipped.list(Array("https://h/a\nwords only\n".utf8))
    #expect(list.feeds.map(\.url) == ["https://h/a"])
    #expect(list.warnings == ["line 2 is no address: “words only”"])
    let error = #expect(throws: FeedError.self) {
      try FeedReader.shipped.list(Array("https://h/a\n\nwords only\nmore words\n".utf8))
    }
    #expect(
      error?.description.hasSuffix("a backup of another app: line 3 is no address: “words only”") == true)
  }

  @Test(arguments: ["", "text", "<rss><channel/></rss>", "<html><outline xmlUrl='https://h/'/></html>"])
  func `Another document is no list`(text: String) {
    #expect(throws: FeedError.self) { try FeedReader.shipped.list(Array(text.utf8)) }
  }

  @Test func `What is written is read again, whatever the titles hold`() throws {
    let feeds: [OPMLDocument.Feed] = [
      .init(url: "https://h/?a=1&b=%22", title: "Tom & \"Jerry\" <3 'é日😀'", htmlURL: "https://h/"),
      .init(url: "https://u:p@h/feed"), .init(url: "https://h/x", title: "bell\u{7}\u{FFFE}tab\tx"),
    ]
    let text = OPMLDocument(title: "Mine & yours", feeds: feeds).text(created: 1_704_276_000)
    let read = try FeedReader.shipped.list(Array(text.utf8))
    #expect(read.title == "Mine & yours" && read.warnings == [])
    #expect(read.feeds.map(\.url) == feeds.map(\.url))
    #expect(read.feeds.map(\.title) == [feeds[0].title, "https://h/feed", "belltab x"])
    #expect(text.contains("<dateCreated>Wed, 03 Jan 2024 10:00:00 +0000</dateCreated>"))
    #expect(
      text.contains("type=\"rss\" text=") && text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"))
  }

  @Test func `A list tells which feeds may be private`() throws {
    var feeds: [OPMLDocument.Feed] = [.init(url: "https://h/a"), .init(url: "https://h/b")]
    feeds[1].mayBePrivate = true
    let text = OPMLDocument(feeds: feeds).text(created: 0)
    #expect(try FeedReader.shipped.list(Array(text.utf8)).feeds.map(\.mayBePrivate) == [false, true])
    let others = text.replacing("podcastfs", with: "other")
    #expect(try FeedReader.shipped.list(Array(others.utf8)).feeds.map(\.mayBePrivate) == [false, false])
    #expect(!OPMLDocument(feeds: [feeds[0]]).text(created: 0).contains("podcastfs"))
  }

  @Test(arguments: [
    ("https://h/f", "https://h/f"), ("feed:https://h/f", "https://h/f"), ("feed://h/f", "http://h/f"),
    ("feed://https://h/f", "https://h/f"), ("itpc://h/f", "http://h/f"), ("PCAST://h/f", "http://h/f"),
    ("example.org/feed", "https://example.org/feed"), (" https://h/a b ", "https://h/a%20b"),
    ("ftp://h/f", nil), ("javascript:alert(1)", nil), ("words only", nil), ("", nil),
    ("file:///etc/passwd", nil),
    ("mailto:a@b.c", nil), ("feed:", nil), ("https://u:p@h:80/f", "https://u:p@h:80/f"),
    ("https://[::1]:8080/f", "https://[::1]:8080/f"), ("https://h:x/f", nil), ("https://:80/f", nil),
    ("http:///f", nil), ("feed:feed:feed:", nil), ("pcast://https//h.example/f", "https://h.example/f"),
    ("pcast://http//127.0.0.1:8123/f", "http://127.0.0.1:8123/f"), ("itpc:https//h/f", "https://h/f"),
    ("http:https://h/f", "https://h/f"), ("\"https://h/f\"", "https://h/f"), ("<https://h/f>", "https://h/f"),
    ("http:h.example/f", "http://h.example/f"), ("//h.example/f", "https://h.example/f"),
    ("https://h/f https://h/g", nil),
    ("https://h/f?q=：／", "https://h/f?q=%EF%BC%9A%EF%BC%8F"),
    ("https:/h/f", "https://h/f"),
  ])
  func `Addresses of feeds are taken in the forms that people give`(text: String, expected: WebAddress?) {
    #expect(SubscriptionAddress.normalized(text) == expected)
  }
}
