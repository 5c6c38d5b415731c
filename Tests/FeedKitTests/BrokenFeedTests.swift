import FeedKit
import PodcastModel
import Testing

/// Feeds that are not well-formed, or not in the encoding that they say.
@Suite struct BrokenFeedTests {
  private func parse(_ bytes: [UInt8], charset: String? = nil) throws -> ParsedFeed {
    try FeedReader.shipped.parse(bytes, charset: charset)
  }

  private func item(_ title: String, _ url: String = "https://h/1.mp3") -> String {
    "<item><title>\(title)</title><enclosure url=\"\(url)\"/></item>"
  }

  @Test(arguments: [
    ("A & B", "A & B"), ("A &nbsp;B &uuml; &hearts;", "A \u{A0}B ü ♥"), ("A &bogus; B", "A &bogus; B"),
    ("a < b and c > d", "a < b and c > d"), ("a\u{1}\u{8}b", "ab"),
    ("x &amp; y &quot;z&quot; & w", "x & y \"z\" & w"),
    ("<![CDATA[A & <b>]]> & C", "A & <b> & C"), ("<b>bold</b> <br> text", "bold text"),
    ("50 &#37; &#x41; &#0;", "50 % A &#0;"),
    ("]]> end", "]]> end"), ("A &amp B", "A &amp B"),
  ])
  func `Text that is not well-formed keeps its words, and later references stay`(
    title: String, expected: String
  ) throws {
    let text =
      "<rss><channel><title>T</title>\(item(title))\(item("Tom &amp; &quot;Jerry&quot;"))</channel></rss>"
    let feed = try parse(Array(text.utf8))
    #expect(feed.episodes.map(\.title) == [expected, "Tom & \"Jerry\""])
  }

  @Test func `A bare ampersand in an address stays`() throws {
    let text = "<rss><channel>\(item("One", "https://h/1.mp3?a=1&id=2&copy=3&amp;d=4"))</channel></rss>"
    let feed = try parse(Array(text.utf8))
    #expect(feed.episodes.first?.enclosures.first?.url == "https://h/1.mp3?a=1&id=2&copy=3&d=4")
    #expect(feed.warnings == ["repaired: an ampersand that was not escaped (2 times)"])
  }

  @Test(arguments: [
    "\n \u{FEFF}<?xml version='1.0'?><rss><channel>ITEM</channel></rss>",
    "<br />\nWarning: something in x.php<?xml version='1.0'?><rss><channel>ITEM</channel></rss>",
    "<rss><channel>ITEM</channel></rss>\n</rss> trailing <junk",
    "<rss><channel>ITEM", "<rss><channel>ITEM<item><title>cut", "<rss><channel><item>ITEM</channel></rss>",
    "<rss><channel><description>a <p> b <i>c</p></description>ITEM</channel></rss>",
    "<rss><channel></wrong>ITEM</channel></rss>",
    "<rss><channel><x a=1 a='2' b c=\"<\">y</x>ITEM</channel></rss>",
    "<rss><channel><!-- a -- b -->ITEM<!-- c</channel></rss>",
    "<!DOCTYPE rss [<!ENTITY a \"<b>\">]><rss><channel><link>&a;</link>ITEM</channel></rss>",
    "<?xml version='1.0' encoding='utf-8'?><?xml version='1.0'?><rss><channel>ITEM</channel></rss>",
    "<rss><channel><title>unclosed<link>x</link>ITEM</channel></rss>",
  ])
  func `A broken document keeps its good items`(text: String) throws {
    let whole = text.replacing("ITEM", with: item("Good &amp; well"))
    let titles = try parse(Array(whole.utf8)).episodes.map(\.title)
    #expect(titles == ["Good & well"])
  }

  @Test func `An item that is not closed ends where the next begins`() throws {
    let text =
      "<rss><channel><item><title>One</title><enclosure url='https://h/1.mp3'/>\(item("Two"))</channel></rss>"
    #expect(try parse(Array(text.utf8)).episodes.map(\.title) == ["One", "Two"])
  }

  @Test func `A title that is not closed ends before the next field`() throws {
    let text = """
      <rss><channel><title>Show<link>https://h/</link><item><title>One & <i>two</i>
      <guid>g1</guid><enclosure url='https://h/1.mp3'/></item></channel></rss>
      """
    let feed = try parse(Array(text.utf8))
    #expect(feed.title == "Show" && feed.link == "https://h/")
    #expect(feed.episodes.map(\.title) == ["One & two"] && feed.episodes.first?.guid == "g1")
  }

  @Test func `The encoding is that of the mark, the declaration, the server, in this order`() throws {
    func document(_ declaration: String, _ title: [UInt8]) -> [UInt8] {
      Array("\(declaration)<rss><channel><title>".utf8) + title + Array("</title></channel></rss>".utf8)
    }
    let latin: [UInt8] = [0xE9, 0x93, 0x94]
    #expect(try parse(document("<?xml version='1.0' encoding='ISO-8859-1'?>", latin)).title == "é“”")
    #expect(try parse(document("", latin), charset: "windows-1252").title == "é“”")
    #expect(
      try parse(document("<?xml version='1.0' encoding='koi8-r'?>", [0xC1]), charset: "utf-8").title == "а")
    #expect(try parse(document("", Array("é".utf8)), charset: "utf-8").title == "é")
    #expect(
      try parse([0xEF, 0xBB, 0xBF] + document("<?xml version='1.0' encoding='latin1'?>", Array("é".utf8)))
        .title == "é")
    #expect(try parse(document("<?xml version='1.0' encoding='utf-16'?>", Array("é".utf8))).title == "é")
    #expect(try parse(document("<?xml version='1.0' encoding='no-such'?>", Array("é".utf8))).title == "é")
    #expect(
      try parse(document("<?xml version='1.0' encoding='Shift_JIS'?>", [0x93, 0xFA, 0x96, 0x7B])).title
        == "日本")
    let wide = Array(
      "<?xml version='1.0' encoding='utf-16'?><rss><channel><title>é日</title></channel></rss>".utf16)
    #expect(try parse([0xFF, 0xFE] + wide.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }).title == "é日")
    #expect(try parse(wide.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }).title == "é日")
  }

  @Test func `Bytes of windows-1252 within UTF-8 are read as such`() throws {
    let bytes =
      Array("<rss><channel><title>日本 caf".utf8) + [0xE9, 0x20, 0x93] + Array("x</title></channel></rss>".utf8)
    let feed = try parse(bytes)
    #expect(feed.title == "日本 café “x")
    #expect(feed.warnings == ["repaired: a byte in another encoding (2 times)"])
  }

  @Test func `Entities of HTML are resolved, a document's own are text`() throws {
    let text = """
      <!DOCTYPE rss [<!ENTITY nbsp "&#160;"><!ENTITY name "Harbour"><!ENTITY ext SYSTEM "file:///etc/passwd">]>
      <rss><channel><title>&nbsp;A&nbsp;&eacute;&mdash;</title>\(item("&rarr;"))</channel></rss>
      """
    let feed = try parse(Array(text.utf8))
    #expect(feed.title == "A\u{A0}é—" && feed.episodes.first?.title == "→" && feed.warnings == [])
    for own in ["&name;", "&ext;"] {
      let title = try parse(Array(text.replacing("&eacute;", with: own).utf8)).title
      #expect(title == "A\u{A0}\(own)—")
    }
  }

  @Test func `A document that is very deep ends`() throws {
    let depth = 100_000
    let text =
      "<rss><channel><title>T</title>" + String(repeating: "<a>", count: depth) + item("in")
      + String(repeating: "</a>", count: depth) + "</channel></rss>"
    #expect(try parse(Array(text.utf8)).title == "T")
  }

  @Test func `A long section without an end takes linear time`() throws {
    let start = "<rss><channel><title>T</title>\(item("in"))"
    let text = start + "<x><![CDATA[" + String(repeating: "a]", count: 400_000)
    #expect(try parse(Array(text.utf8)).title == "T")
    let ampersands = start + "<x>" + String(repeating: "&", count: 100_000)
    #expect(try parse(Array(ampersands.utf8)).title == "T")
    let tags = start + String(repeating: "<a ", count: 100_000)
    #expect(try parse(Array(tags.utf8)).title == "T")
    let odd = start + String(repeating: "<a b=\"c\"d=\"", count: 300_000)
    #expect(try parse(Array(odd.utf8)).title == "T")
    let quotes = start + String(repeating: "<a b='", count: 100_000)
    #expect(try parse(Array(quotes.utf8)).title == "T")
  }
}
