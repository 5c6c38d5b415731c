internal import PodcastModel
internal import PosixKit

extension OPMLDocument {
  /// OPML 2.0 in UTF-8, an outline a feed, without folders.
  /// - Parameter created: in seconds since 1970.
  package func text(created: Int64) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <opml version="2.0">
        <head>
          <title>\(XMLText.escaped(title ?? "Subscriptions"))</title>
          <dateCreated>\(CivilTime.rfc822(created))</dateCreated>
          <docs>http://opml.org/spec2.opml</docs>
        </head>
        <body>

      """
    for feed in feeds { text += Self.outline(of: feed) }
    return text + "  </body>\n</opml>\n"
  }

  /// The line of one feed.
  package static func outline(of feed: Feed) -> String {
    let title = XMLText.escaped(PrintableText.line(feed.title ?? feed.url.shown))
    let name = feed.name.map { XMLText.escaped(PrintableText.line($0)) } ?? title
    let page = feed.htmlURL.map { " htmlUrl=\"\(XMLText.escaped($0.forRequest))\"" } ?? ""
    return
      "    <outline type=\"rss\" text=\"\(name)\" title=\"\(title)\" xmlUrl=\"\(XMLText.escaped(feed.url.forRequest))\"\(page)/>\n"
  }
}
