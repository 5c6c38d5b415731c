import HTTPKit
import Testing

@Suite struct HeaderFieldTests {
  private func head(_ fields: (name: String, value: String)...) -> HTTPResponseHead {
    HTTPResponseHead(status: 200, headers: fields, effectiveURL: "http://media.example/", redirects: [])
  }

  @Test func aContentRangeTellsItsBytesAndTheTotal() {
    #expect(ContentRange("bytes 0-99/1234") == ContentRange(range: 0..<100, total: 1234))
    #expect(ContentRange("Bytes 5-5/*") == ContentRange(range: 5..<6, total: nil))
    #expect(ContentRange("bytes */1234") == ContentRange(range: nil, total: 1234))
  }

  @Test(arguments: [
    "", "bytes", "bytes */*", "bytes 5-4/10", "bytes 0-10/10", "items 0-1/2", "bytes 0-1", "bytes -1/2",
    "bytes 0-99999999999999999999/*", "bytes +1-2/3", "bytes 0x1-2/3",
  ])
  func aContentRangeThatContradictsItselfIsNone(_ text: String) { #expect(ContentRange(text) == nil) }

  @Test func retryAfterIsSecondsOrADateByTheServersClock() {
    #expect(head(("retry-after", "120")).retryAfter(now: 0) == 120)
    #expect(head(("retry-after", "99999999999999999999999")).retryAfter(now: 0) ?? 0 > 86_400)
    let date = (name: "retry-after", value: "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(head(date).retryAfter(now: 784_111_700) == 77)
    #expect(head(date).retryAfter(now: 784_111_800) == 0)
    #expect(head(date, ("date", "Sun, 06 Nov 1994 08:49:30 GMT")).retryAfter(now: 5) == 7)
    #expect(head(("retry-after", "soon")).retryAfter(now: 0) == nil)
    #expect(head().retryAfter(now: 0) == nil)
  }

  @Test func onlyAStrongEntityTagIsAValidator() {
    #expect(head(("etag", "\"abc\"")).strongETag == "\"abc\"")
    #expect(head(("etag", "W/\"abc\"")).strongETag == nil)
    #expect(head(("etag", "abc")).strongETag == nil)
    #expect(head(("etag", "\"")).strongETag == nil)
  }

  @Test func aMediaTypeIsReadWithoutItsParametersAndTheCharsetWithoutQuotes() {
    let head = head(("content-type", "Text/XML; q=1; Charset=\"ISO-8859-1\""))
    #expect(head.mediaType == "text/xml")
    #expect(head.charset == "iso-8859-1")
    #expect(self.head(("content-type", "audio/mpeg")).charset == nil)
    #expect(self.head(("content-type", ";=; =; charset")).charset == nil)
    #expect(self.head().mediaType == nil)
  }
}
