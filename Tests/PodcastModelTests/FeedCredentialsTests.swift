import PodcastModel
import Testing

@Suite struct FeedCredentialsTests {
  @Test(arguments: [
    // The host of the feed, however it is written.
    ("http://ann:word@a.example/feed", "http://a.example/1.mp3", "http://ann:word@a.example/1.mp3"),
    ("http://ann:w%40rd@A.example:80/feed", "http://a.example/1.mp3", "http://ann:w%40rd@a.example/1.mp3"),
    ("https://ann@a.example/feed", "https://a.example:443/1.mp3", "https://ann@a.example:443/1.mp3"),
    ("http://ann:word@a.example/feed", "https://a.example/1.mp3", "https://ann:word@a.example/1.mp3"),
    ("http://ann:word@[::1]:8080/feed", "http://[::1]:8080/1.mp3", "http://ann:word@[::1]:8080/1.mp3"),
    // No other one.
    ("http://ann:word@a.example/feed", "http://b.example/1.mp3", "http://b.example/1.mp3"),
    ("http://ann:word@a.example/feed", "http://cdn.a.example/1.mp3", "http://cdn.a.example/1.mp3"),
    ("http://ann:word@a.example/feed", "http://a.example:81/1.mp3", "http://a.example:81/1.mp3"),
    ("http://ann:word@a.example:81/feed", "https://a.example/1.mp3", "https://a.example/1.mp3"),
    ("https://ann:word@a.example/feed", "http://a.example/1.mp3", "http://a.example/1.mp3"),
    ("http://ann:word@[::1]/feed", "http://[::2]/1.mp3", "http://[::2]/1.mp3"),
    ("http://ann:word@a.example/feed", "http://b.example/?@a.example/", "http://b.example/?@a.example/"),
    ("http://ann:word@a.example/feed", "http://b.example\\@a.example/", "http://b.example\\@a.example/"),
    // What has its own, or where there are none.
    ("http://ann:word@a.example/feed", "http://bob@a.example/1.mp3", "http://bob@a.example/1.mp3"),
    ("http://a.example/feed", "http://a.example/1.mp3", "http://a.example/1.mp3"),
    ("http://ann:word@a.example/feed", "no address", "no address"),
  ])
  func theyAreLentToTheFeedsOwnHostOnly(feed: WebAddress, url: WebAddress, lent: String) {
    #expect(FeedCredentials.lent(by: feed, to: url).forRequest == lent)
  }
}
