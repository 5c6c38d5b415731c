import PodcastModel
import Testing

@Suite struct WebAddressTests {
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
    ("user:word@a.example/feed", "a.example/feed"),
    ("a.example/private/3f2a.rss?token=x", "a.example/private/***?token=***"),
    ("/home/private/x", "/home/private/x"),
    ("AC/DC", "AC/DC"),
    ("not an address", "not an address"),
  ])
  func `What is secret by its name is never shown`(url: WebAddress, shown: String) {
    #expect(url.shown == shown && url.shown(isListed: true) == shown)
  }

  @Test(arguments: [
    ("https://a.example/rss/3cdd8b2ea2e3d3/", "https://a.example/rss/***/"),
    ("https://a.example/u/dHJ5Mm1lbWJlcnM5.rss?x=1", "https://a.example/u/***?x=1"),
    ("https://ann:w@a.example/0b2c1d3e-4f50-6172-8394-a5b6c7d8e9f0.mp3", "https://a.example/***"),
    ("https://a.example/AAAAaaaa1111bbbb2222/feed", "https://a.example/***/feed"),
    ("https://a.example/Zk3Q9x-x/1.mp3?token=y", "https://a.example/Zk3Q9x-x/1.mp3?token=***"),
  ])
  func `What may be a token in the path is shown only where a directory named the address`(
    url: WebAddress, shown: String
  ) {
    #expect(url.shown == shown)
    let path = url.forRequest.split(separator: "/")[2]
    #expect(url.shown(isListed: true).contains(path.prefix { $0 != "?" }))
  }

  @Test(arguments: [
    "https://a.example/2024-01-03-harbour-lights-episode-12.mp3",
    "https://a.example/BBC6MusicNewFavourites2024/20240103T100000Z.mp3",
    "https://traffic.megaphone.fm/VMP1234567890.mp3", "https://a.example/TheDailyShowEarsEdition/feed.xml",
    "https://a.example/season2024episode12/ThePilot2024.mp3",
    "https://a.example/Ünïcödé/%D0%9F%D1%80%D0%B8.mp3", "https://3cdd8b2ea2e3d3.example/feed",
  ])
  func `Words, dates and numbers are shown`(url: WebAddress) {
    #expect(url.shown == url.forRequest)
  }

  @Test func `Whatever prints a value that holds an address shows no secret`() {
    struct Holder: Hashable { var url: WebAddress? = "https://ann:secret@a.example/?token=secret" }
    var dumped = ""
    dump(Holder(), to: &dumped)
    let all = [String(describing: Holder()), String(reflecting: Holder()), "\([Holder()])", dumped]
    for text in all { #expect(!text.contains("secret")) }
    #expect(String(describing: Holder()).contains("a.example"))
  }

  @Test func `Its parts are read as leniently as they come`() {
    // A combining mark does not hide what ends the host.
    #expect(WebAddress("http://a.example/\u{301}@b.example/").host == "a.example")
    #expect(WebAddress("HTTP://u@[::1]:80/x").host == "::1" && WebAddress("HTTP://h/").scheme == "http")
    #expect(WebAddress("http://A.Example:8080?x").host == "a.example" && WebAddress("https://h").isWeb)
    #expect(
      !WebAddress("ftp://h/").isWeb && !WebAddress("http:///x").isWeb && WebAddress("words").host == nil)
  }
}
