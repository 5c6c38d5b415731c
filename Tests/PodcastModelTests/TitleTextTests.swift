import PodcastModel
import Testing

@Suite struct TitleTextTests {
  @Test(arguments: [
    ("Tom & Jerry", "Tom & Jerry"), ("Tom &amp; Jerry", "Tom & Jerry"),
    ("Grün &amp; ä", "Grün & ä"),
    ("<b>Fat</b> cat", "Fat cat"),
    ("A &lt;b and more", "A <b and more"), ("1 &lt;b 2 &gt; 0", "1 <b 2 > 0"), ("1 <b 2 > 0", "1 <b 2 > 0"),
    ("Using <b> in HTML", "Using  in HTML"),
    ("&lt;i&gt;Foo&lt;/i&gt;", "Foo"), ("<p>Foo", "Foo"), ("A <br> B", "A  B"),
    ("<span class='x'>Cut", "Cut"), ("<em>Foo <b>bar</b></em>", "Foo bar"), ("<I>Foo</i>", "Foo"),
    ("<a href=\"x\">Link</a>, <br/> <i >so</i>", "Link,  so"), ("List<String> of <w>", "List<String> of <w>"),
    ("A<script>alert('x')</script> B", "A B"), ("<style>p{}</style>C", "C"),
    ("<noscript>Dark</noscript> lake", "Dark lake"),
    ("<h2>Head</h2> <iframe src='x'></iframe>line", "Head line"),
  ])
  func `A title is shown as it was meant`(title: String, expected: String) {
    #expect(TitleText.plain(title) == expected)
  }
}
