import PodcastModel
import Testing

@Suite struct PlainTextTests {
  @Test(arguments: [
    ("<p>One</p><p>Two<br>three</p>", "One\n\nTwo\nthree"),
    ("<ul>\n <li>a</li>\n <li>b</li></ul>end", "- a\n- b\n\nend"),
    ("Tom &amp; <b>Jerry</b>&nbsp;&#8217;s", "Tom & Jerry ’s"),
    ("See <a href=\"https://h/x?a=1&amp;b=2\">the page</a>.", "See the page <https://h/x?a=1&b=2>."),
    ("<a href='https://h/'>https://h/</a> <a href=\"javascript:x()\">no</a>", "https://h/ no"),
    ("line one\nline two\n\n\nline three", "line one\nline two\n\nline three"),
    ("<p>line\n one</p>", "line one"), ("<img alt=\"a <b> c\" src='x'>picture", "picture"),
    ("<a title=\"open>one</a> <b title=\"x\">two</b>", "one two"),
    ("a < b && c > d", "a < b && c > d"),
    ("<script>var x = '<p>';</script>text<style>p{}</style>", "text"),
    ("<!-- gone -->here<!-- open", "here"), ("<!-->here<!--->too", "heretoo"),
    ("<", "<"), ("<p", "<p"), ("&", "&"), ("", ""), ("   \n ", ""), ("a\u{1}\u{7F}b", "ab"),
    ("<p><a href=\"https://h/\">open", "open <https://h/>"),
  ])
  func `Show notes become text`(html: String, expected: String) {
    #expect(PlainText.text(html) == expected)
  }

  @Test(arguments: [
    "<", "<a", "<!", "<!--", "&", "</", "<p>", "<a href='", "<script>", "\n", "<a href=https://h/>",
  ])
  func `Hostile notes take linear time`(piece: String) {
    let text = String(repeating: piece, count: 40_000)
    #expect(PlainText.text(text).utf8.count <= text.utf8.count + 80_000)
  }
}
