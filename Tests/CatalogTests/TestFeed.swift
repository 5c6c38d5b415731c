/// RSS for tests.
struct TestFeed {
  struct Item {
    var title: String
    var guid: String?
    var url: String
    /// RFC 822.
    var date: String? = "Wed, 03 Jan 2024 10:00:00 GMT"
    var extra = ""

    init(_ title: String, guid: String?, url: String? = nil, date: String? = "Wed, 03 Jan 2024 10:00:00 GMT")
    {
      self.title = title
      self.guid = guid
      self.url = url ?? "http://media.example/\(guid ?? title).mp3"
      self.date = date
    }
  }

  var title = "Harbour Lights"
  var channel = ""
  var items: [Item] = []

  var text: String {
    let items = items.map { item in
      """
      <item><title>\(item.title)</title>
      \(item.guid.map { "<guid isPermaLink=\"false\">\($0)</guid>" } ?? "")
      \(item.date.map { "<pubDate>\($0)</pubDate>" } ?? "")
      <enclosure url="\(item.url)" type="audio/mpeg" length="1000"/>\(item.extra)</item>
      """
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
        xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
      <title>\(title)</title>\(channel)
      \(items.joined(separator: "\n"))
      </channel></rss>
      """
  }

  var page: FakeWeb.Page { FakeWeb.Page(text, headers: [("Content-Type", "application/rss+xml")]) }
}

extension TestFeed {
  /// Numbered items, a day apart, at addresses and with guids that begin with `prefix`.
  static func items(_ numbers: Range<Int>, _ prefix: String = "g", host: String = "m.example") -> [TestFeed
    .Item]
  {
    numbers.map {
      TestFeed.Item(
        "Episode \($0)", guid: "\(prefix)\($0)", url: "http://\(host)/\(prefix)\($0)00.mp3",
        date: "Wed, \($0 + 1) Jan 2020 10:00:00 GMT")
    }
  }
}
