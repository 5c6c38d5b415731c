import PodcastModel
import Testing

@Suite struct PublicURLTests {
  @Test(arguments: [
    ("http://user:word@a.example/feed", "http://a.example/feed"),
    ("https://a.example/feed?auth=abc&id=1#x", "https://a.example/feed?auth=***&id=1#x"),
    (
      "https://a.example/rss?access_token=a&X-Amz-Signature=b&n",
      "https://a.example/rss?access_token=***&X-Amz-Signature=***&n"
    ),
    ("https://a.example/feed/123/private/3f2a.rss", "https://a.example/feed/123/private/***"),
    ("https://a.example/content/eyJhbGciOiJIUzI1NiJ9.e30.x.rss", "https://a.example/content/***"),
    ("https://a.example/a?id=7&page=2", "https://a.example/a?id=7&page=2"),
    ("https://a.example/private/", "https://a.example/private/"),
    ("not an address", "not an address"),
  ])
  func secretsAreNotShown(url: String, shown: String) {
    #expect(PublicURL.text(url) == shown)
  }
}
