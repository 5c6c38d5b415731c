import FeedKit
import PodcastModel
import Testing

@Suite struct FeedParserTests {
  private func parse(_ text: String, baseURL: WebAddress? = nil) throws -> ParsedFeed {
    try FeedReader.shipped.parse(Array(text.utf8), baseURL: baseURL)
  }

  private func rss(_ items: String, channel: String = "", attributes: String = "") -> String {
    "<rss version=\"2.0\" \(attributes)><channel><title>T</title>\(channel)\(items)</channel></rss>"
  }

  @Test func `RSS 2 with iTunes gives the channel and its episodes`() throws {
    let feed = try parse(
      """
      <?xml version="1.0"?>
      <rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:atom="http://www.w3.org/2005/Atom"
        xmlns:content="http://purl.org/rss/1.0/modules/content/"
        xmlns:podcast="https://podcastindex.org/namespace/1.0"
        xmlns:psc="http://podlove.org/simple-chapters/"><channel>
        <atom:link rel="self" href="https://h/feed"/><atom:link rel="next" href="https://h/feed?p=2"/>
        <image><url>https://h/small.png</url><title>not this</title><link>https://h/not</link></image>
        <title> Harbour &amp;\n Lights </title><link>https://h/</link><language>en</language>
        <itunes:author>Ann</itunes:author><itunes:image href="https://h/cover.jpg"/>
        <itunes:category text="Arts"><itunes:category text="Books"/></itunes:category>
        <itunes:explicit>no</itunes:explicit><itunes:type>Serial</itunes:type><ttl>60</ttl>
        <itunes:owner><itunes:name>Bob</itunes:name></itunes:owner><podcast:guid>g-u</podcast:guid>
        <itunes:new-feed-url>https://h/new</itunes:new-feed-url><description>About</description>
        <podcast:liveItem><title>live</title><enclosure url="https://h/live.mp3"/></podcast:liveItem>
        <item><title>One</title><guid isPermaLink="false"> g1 </guid>
          <pubDate>Wed, 03 Jan 2024 10:00:00 +0000</pubDate><itunes:duration>1:00</itunes:duration>
          <enclosure url=" https://h/1.mp3 " length="123" type="audio/mpeg"/>
          <itunes:summary>short</itunes:summary><content:encoded><![CDATA[<p>long</p>]]></content:encoded>
          <description>middle</description><itunes:season>2</itunes:season><itunes:episode>7</itunes:episode>
          <itunes:episodeType>bonus</itunes:episodeType><itunes:keywords>a, b ,,c</itunes:keywords>
          <podcast:transcript url="https://h/1.vtt" type="text/vtt" language="en"/>
          <podcast:chapters url="https://h/1.json" type="application/json+chapters"/>
          <psc:chapters version="1.2"><psc:chapter start="00:01:30.5" title="Fog &amp; tide" href="https://h/c"/>
            <psc:chapter start="00:00:00" title="Start"/><psc:chapter start="soon" title="x"/></psc:chapters>
          <podcast:person role="guest">Cleo</podcast:person><itunes:explicit>yes</itunes:explicit>
          <itunes:image href="https://h/1.jpg"/><link>https://h/1</link></item>
        <item><title>Text only</title></item>
        <item><title>Two</title><enclosure url="https://h/2.mp3" length="0" type=""/></item>
      </channel></rss>
      """)
    #expect(feed.title == "Harbour & Lights" && feed.author == "Ann" && feed.link == "https://h/")
    #expect(
      feed.imageURL == "https://h/cover.jpg" && feed.language == "en" && feed.categories == ["Arts", "Books"])
    #expect(feed.explicit == false && feed.type == "serial" && feed.timeToLive == 60)
    #expect(feed.guid == "g-u" && feed.newFeedURL == "https://h/new" && feed.description == "About")
    #expect(feed.selfURL == "https://h/feed" && feed.nextPageURL == "https://h/feed?p=2")
    #expect(feed.episodes.map(\.title) == ["One", "Two"] && feed.episodes.map(\.index) == [0, 2])
    let one = try #require(feed.episodes.first)
    #expect(one.guid == "g1" && one.published == 1_704_276_000 && one.duration == 60)
    #expect(one.enclosures == [.init(url: "https://h/1.mp3", type: "audio/mpeg", length: 123)])
    #expect(one.notes == "<p>long</p>" && one.season == 2 && one.episode == 7 && one.episodeType == "bonus")
    #expect(one.explicit == true && one.link == "https://h/1")
    #expect(one.transcripts == [Transcript(url: "https://h/1.vtt", type: "text/vtt", language: "en")])
    #expect(one.chaptersURL == "https://h/1.json" && one.imageURL == "https://h/1.jpg")
    #expect(
      one.chapters.map { ChapterList(parsing: Array($0.utf8))?.chapters } == [
        .init(start: 0, title: "Start", link: nil),
        .init(start: 90_500, title: "Fog & tide", link: "https://h/c"),
      ])
    #expect(feed.episodes[1].chapters == nil)
    #expect(feed.episodes[1].enclosures == [.init(url: "https://h/2.mp3", type: nil, length: nil)])
    #expect(feed.warnings == ["an item has no enclosure"])
  }

  @Test func `RSS 1 has its items beside the channel`() throws {
    let feed = try parse(
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:enc="http://example.org/">
      <channel rdf:about="https://h/"><title>T</title><dc:creator>Ann</dc:creator><items/></channel>
      <item rdf:about="https://h/1"><title>One</title><dc:date>2024-01-03T10:00:00Z</dc:date>
      <enclosure url="https://h/1.mp3"/></item></rdf:RDF>
      """)
    #expect(feed.title == "T" && feed.author == "Ann" && feed.episodes.count == 1)
    #expect(feed.episodes.first?.guid == "https://h/1" && feed.episodes.first?.published == 1_704_276_000)
  }

  @Test func `Atom has links for enclosures`() throws {
    let feed = try parse(
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title type="html">A &amp;amp; &lt;b>B&lt;/b></title>
      <link href="https://h/"/><author><name>Ann</name></author><id>f</id><logo>/l.png</logo>
      <entry xml:base="https://h/sub/"><id>e1</id><title>One</title><updated>2024-02-01T00:00:00Z</updated>
      <published>2024-01-03T10:00:00Z</published><author><name>Cleo</name></author>
      <link rel="alternate" href="page"/><link rel="enclosure" href="one.mp3" type="audio/mpeg" length="5"/>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Hi <a href="https://x/">there</a></p></div></content>
      </entry></feed>
      """)
    #expect(feed.title == "A & B" && feed.author == "Ann" && feed.language == "de")
    #expect(feed.imageURL == "https://h/l.png")
    let one = try #require(feed.episodes.first)
    #expect(one.guid == "e1" && one.published == 1_704_276_000)
    #expect(one.enclosures.map(\.url) == ["https://h/sub/one.mp3"] && one.link == "https://h/sub/page")
    #expect(one.notes.map(PlainText.text) == "Hi there <https://x/>")
  }

  @Test func `Atom is read without its namespace, and links of Atom within RSS`() throws {
    let atom = try parse(
      """
      <feed><title>T</title><id>f</id><link rel="next" href="https://h/2"/><entry><id>e1</id><title>One</title>
      <published>2024-01-03T10:00:00Z</published><summary>S</summary>
      <link rel="enclosure" href="https://h/1.mp3" type="audio/mpeg"/></entry></feed>
      """)
    #expect(atom.title == "T" && atom.nextPageURL == "https://h/2" && atom.episodes.count == 1)
    #expect(atom.episodes[0].guid == "e1" && atom.episodes[0].published == 1_704_276_000)
    #expect(atom.episodes[0].notes == "S" && atom.episodes[0].enclosure?.url == "https://h/1.mp3")
    let items = """
      <item><link>https://h/page</link><link rel="enclosure" href="https://h/1.mp3" type="audio/mpeg"/></item>
      """
    let mixed = try parse(rss(items, channel: "<link>https://h/</link><link rel='self' href='https://h/f'/>"))
    #expect(mixed.link == "https://h/" && mixed.selfURL == "https://h/f")
    #expect(
      mixed.episodes.first?.enclosure?.url == "https://h/1.mp3" && mixed.episodes[0].link == "https://h/page")
  }

  @Test(arguments: [
    ("</item></channel></rss>", true, 2), ("</item>", false, 2), ("</item></channel>", false, 2),
    ("", false, 1),
    ("<description>Half a te", false, 1), ("<description><![CDATA[Half", false, 1), ("<link", false, 1),
    ("</item><description>Of the cha", false, 2),
  ])
  func `A document that breaks off says so`(end: String, isWhole: Bool, count: Int) throws {
    let feed = try parse(
      """
      <?xml version="1.0"?><rss version="2.0"><channel><title>T</title>
      <item><title>A</title><enclosure url="https://h/1.mp3" type="audio/mpeg"/></item>
      <item><title>B</title><enclosure url="https://h/2.mp3" type="audio/mpeg"/>\(end)
      """)
    #expect(feed.isWhole == isWhole && feed.episodes.count == count && feed.title == "T")
    #expect(feed.warnings.contains { $0.contains("breaks off") } == !isWhole)
  }

  @Test func `What is neither audio nor video gets its own ending`() throws {
    let feed = try parse(
      rss(
        """
        <item><title>A</title><enclosure url="https://h/a.torrent" type="application/x-bittorrent"/></item>
        <item><title>B</title><enclosure url="https://h/b" type="text/html"/></item>
        <item><title>C</title><enclosure url="https://h/c.torrent"/><enclosure url="https://h/c.mp3"/></item>
        <item><title>D</title><enclosure url="https://h/d.jpg" type="image/jpeg"/></item>
        """))
    #expect(feed.episodes.map(\.fileExtension) == [".torrent", ".html", ".mp3", ".jpg"])
  }

  @Test func `Without an enclosure element media content and links serve`() throws {
    let feed = try parse(
      rss(
        """
        <item><media:group><media:content url="https://h/i.jpg" medium="image"/>
          <media:content url="https://h/1.mp4" type="video/mp4" fileSize="9" duration="61"/></media:group></item>
        <item><a:link rel="enclosure" href="https://h/2.mp3"/></item>
        <item><enclosure url="https://h/c.pdf" type="application/pdf"/><enclosure url="https://h/4.mp3" type="audio/mpeg"/>
          <media:content url="https://h/other.mp3" type="audio/mpeg"/></item>
        """,
        attributes: """
          xmlns:media="http://search.yahoo.com/mrss/" xmlns:a="http://www.w3.org/2005/Atom"
          xmlns:podcast="https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md"
          """))
    #expect(
      feed.episodes.map { $0.enclosures.map(\.url) } == [
        ["https://h/1.mp4"], ["https://h/2.mp3"],
        ["https://h/c.pdf", "https://h/4.mp3"],
      ])
    #expect(feed.episodes[0].enclosure?.length == 9 && feed.episodes[0].duration == 61)
    #expect(feed.episodes[0].imageURL == "https://h/i.jpg")
    #expect(feed.episodes[2].enclosure?.url == "https://h/4.mp3")
  }

  @Test(arguments: [
    "<rss><channel><itunes:author>Ann</itunes:author><item><title>One</title><itunes:duration>9</itunes:duration><enclosure url='https://h/1.mp3'/></item></channel></rss>",
    "<rss xmlns='http://backend.userland.com/rss2'><channel><itunes:author>Ann</itunes:author><item><title>One</title><itunes:duration>9</itunes:duration><enclosure url='https://h/1.mp3'/></item></channel></rss>",
    "<rss xmlns='urn:anything' xmlns:itunes='HTTPS://www.itunes.com/DTDs/PodCast-1.0.dtd'><channel><itunes:author>Ann</itunes:author><item><title>One</title><itunes:duration>9</itunes:duration><enclosure url='https://h/1.mp3'/></item></channel></rss>",
    "<rss xmlns:i='http://www.itunes.com/dtds/podcast-1.0.dtd'><channel><i:author>Ann</i:author><acast:item><title>no</title></acast:item><item><title>One</title><i:title>other</i:title><i:duration>9</i:duration><enclosure url='https://h/1.mp3'/></item></channel></rss>",
    "<RSS><Channel><itunes:author>Ann</itunes:author><Item><Title>One</Title><itunes:duration>9</itunes:duration><Enclosure URL='https://h/1.mp3'/></Item></Channel></RSS>",
  ])
  func `Namespaces may be missing, unusual or unknown`(text: String) throws {
    let feed = try parse(text)
    #expect(feed.author == "Ann" && feed.episodes.map(\.title) == ["One"] && feed.episodes[0].duration == 9)
  }

  @Test func `Relative addresses start from the page, else from the feed's own address`() throws {
    let item =
      "<item><enclosure url='a/../1 x.mp3'/></item><item><enclosure url='//o/2.mp3'/></item><item><enclosure url='ftp://h/3.mp3'/></item>"
    let onPage = try parse(rss(item, channel: "<link>https://h/p/</link>"), baseURL: "https://other/")
    #expect(onPage.episodes.map { $0.enclosures[0].url } == ["https://h/p/1%20x.mp3", "https://o/2.mp3"])
    #expect(onPage.episodes[0].enclosures[0].address == "a/../1 x.mp3")
    #expect(onPage.warnings == ["an enclosure has no usable address"])
    let onFeed = try parse(rss(item), baseURL: "https://other/f/feed.xml?x=/")
    #expect(onFeed.episodes.first?.enclosures[0].url == "https://other/f/1%20x.mp3")
    #expect(try parse(rss(item)).episodes.isEmpty)
  }

  @Test(arguments: [
    ("", "is empty"), ("  \n ", "is empty"), ("<html><body/></html>", "is a web page, not a feed"),
    ("<!DOCTYPE html>\n<p>Hi<br>", "is a web page, not a feed"),
    ("<opml><head><title>x</title></head></opml>", "is a list of subscriptions (OPML), not a feed"),
    ("<svg/>", "is not a feed"), ("plain text", "is not a feed"),
    ("ID3\u{4}\u{0}", "is not a feed"),
    ("PK\u{3}\u{4}<yl->", "is not a feed"),
    ("<", "is not a feed"), ("<?xml version='1.0'?>", "is not a feed"),
  ])
  func `What is no feed is named in words`(text: String, words: String) throws {
    let error = #expect(throws: FeedError.self) { try parse(text) }
    #expect(error?.description == words)
  }

  @Test func `A page names its feeds`() throws {
    let error = #expect(throws: FeedError.self) {
      try parse(
        """
        <!doctype html><head><link rel="alternate" type="application/rss+xml" href="/blog">
        <link rel=alternate type="application/atom+xml" href="https://o/pod"></head>
        """, baseURL: "https://h/page")
    }
    guard case .notAFeed(let found) = error else { return }
    #expect(found.feeds == ["https://h/blog", "https://o/pod"])
  }

  @Test func `Of all that an item names the first audio or video is played`() throws {
    let feed = try parse(
      rss(
        """
        <item><enclosure url="https://h/1.torrent" type="application/x-bittorrent"/><media:group>
          <media:content url="https://h/1.mp4" type="video/mp4"/><media:content url="https://h/2.mp4"/></media:group></item>
        <item><enclosure url="https://h/x.jpg" type="image/jpeg"/><media:content url="https://h/2.mp3"/></item>
        <item><enclosure url="https://h/x.pdf" type="application/pdf"/><atom:link rel="enclosure" href="https://h/3.mp3"/></item>
        <item><enclosure url="https://h/x.m3u8" type="audio/mpeg"/><podcast:alternateEnclosure type="audio/mpeg">
          <podcast:source uri="ipfs://x"/><podcast:source uri="https://h/4.mp3"/></podcast:alternateEnclosure></item>
        <item><enclosure url="https://h/5.mp3" type="image/jpeg"/></item>
        <item><enclosure url="https://h/live" type="application/vnd.apple.mpegurl"/></item>
        <item><enclosure url="https://h/live" type="audio/x-scpls"/></item>
        <item><enclosure url="https://h/live.pls" type="audio/mpeg"/></item>
        <item><link rel="enclosure" type="audio/ogg" length="9"> https://h/6 </link></item>
        """))
    #expect(
      feed.episodes.compactMap(\.enclosure?.url) == [
        "https://h/1.mp4", "https://h/2.mp3", "https://h/3.mp3", "https://h/4.mp3", "https://h/5.mp3",
        "https://h/6",
      ])
    #expect(feed.episodes.map(\.fileExtension) == [".mp4", ".mp3", ".mp3", ".mp3", ".mp3", ".ogg"])
    #expect(feed.episodes.last?.enclosure?.length == 9)
    #expect(
      feed.warnings == [
        "an item has only a stream or playlist (HLS), which is not a file: left out (3 times)"
      ])
  }

  @Test func `A guid may be the page, an id the guid, and a date a term of Dublin Core`() throws {
    let feed = try parse(
      rss(
        """
        <item><guid>https://h/page</guid><enclosure url="https://h/1.mp3"/></item>
        <item><guid isPermaLink="false">https://h/page</guid><enclosure url="https://h/2.mp3"/></item>
        <item><id>i3</id><dcterms:created>2024-01-03T10:00:00Z</dcterms:created><enclosure url="https://h/3.mp3"/>
          <dcterms:modified>2025-01-03T10:00:00Z</dcterms:modified></item>
        <item><guid>https://h/g</guid><link>https://h/l</link><title>A <script>x()</script>B</title>
          <enclosure url="http:https://h/4.mp3"/></item>
        """))
    #expect(feed.episodes.map(\.link) == ["https://h/page", nil, nil, "https://h/l"])
    #expect(feed.episodes[2].guid == "i3" && feed.episodes[2].published == 1_704_276_000)
    #expect(feed.episodes[3].title == "A B" && feed.episodes[3].enclosure?.url == "https://h/4.mp3")
  }

  @Test func `A feed with nothing to play says so`() throws {
    let blog = try parse(rss("<item><title>Post</title><link>https://h/p</link></item>"))
    #expect(blog.emptiness == "the feed has one item, and nothing to play")
    #expect(blog.warnings.contains("the feed has one item, and nothing to play"))
    #expect(try parse(rss("<item/><item/>")).emptiness == "the feed has 2 items, and nothing to play")
    #expect(try parse(rss("")).emptiness == nil)
    #expect(try parse(rss("<item/><item><enclosure url='https://h/1.mp3'/></item>")).emptiness == nil)
  }

  @Test func `Too many bytes are refused`() throws {
    var limits = FeedLimits()
    limits.document = 100
    let bytes = [UInt8](repeating: 0x20, count: 101)
    #expect(throws: FeedError.tooLarge(limit: 100)) { try FeedParser.parse(bytes: bytes, limits: limits) }
    #expect(throws: FeedError.tooLarge(limit: 100)) { try FeedBody(bytes, limit: 100) }
  }
}
