import PodcastModel
import Testing

@Suite struct AddressTests {
  @Test(arguments: [
    ("http://A.Example:80/feed/", "https://a.example/feed"),
    ("http://a.example", "http://a.example/#top"),
    ("http://a.example/%c3%a9?a=%2f", "http://a.example/%C3%A9?a=%2F"),
    ("http://a.example/feed?", "http://a.example/feed"),
    ("https://a.example:443/x", "http://a.example./x"),
    ("http://b\u{fc}cher.example/x", "https://xn--bcher-kva.example/x"),
    ("http://BU\u{308}CHER.example/x", "http://b\u{fc}cher.example/x"),
    ("http://me:100%@a.example/x", "http://me:100%25@a.example/x"),
    ("http://m%65:p%c3%a9@a.example/x", "http://me:p\u{e9}@a.example/x"),
    ("http://me:p%40@a.example/x", "http://me:p@@a.example/x"),
  ])
  func addressesThatMeanTheSameFeedHaveOneKey(a: WebAddress, b: WebAddress) {
    #expect(FeedKey.text(a) == FeedKey.text(b))
  }

  @Test(arguments: [
    ("http://a.example/feed", "http://a.example/Feed"),
    ("http://a.example/feed?id=1", "http://a.example/feed?id=2"),
    ("http://a.example:8080/feed", "http://a.example/feed"),
    ("http://one@a.example/feed", "http://two@a.example/feed"),
    ("http://me:%31%3a@a.example/x", "http://me%3a1:@a.example/x"),
  ])
  func othersHaveAnother(a: WebAddress, b: WebAddress) {
    #expect(FeedKey.text(a) != FeedKey.text(b))
  }

  @Test func textsArePercentEncodedAsUTF8() {
    #expect(PercentEncoding.encode("Grüße & a-b_c.d~e/東") == "Gr%C3%BC%C3%9Fe%20%26%20a-b_c.d~e%2F%E6%9D%B1")
  }
}
