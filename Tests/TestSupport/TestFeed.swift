internal import PodcastModel

/// A feed that a test makes: RSS 2.0 with iTunes elements.
package struct TestFeed: Sendable {
  package struct Item: Sendable {
    package var guid: String?
    package var title: String
    /// In seconds since 1970.
    package var published: Int64?
    package var url: String
    package var length: Int64?
    package var mediaType = "audio/mpeg"
    package var duration: String?
    /// Further elements, as XML.
    package var more = ""

    package init(
      _ title: String, url: String, guid: String? = nil, published: Int64? = nil, length: Int64? = nil
    ) {
      self.title = title
      self.url = url
      self.guid = guid
      self.published = published
      self.length = length
    }
  }

  package var title: String
  package var author: String?
  package var imageURL: String?
  package var items: [Item]
  /// Further elements of the channel, as XML.
  package var more = ""

  package init(_ title: String, author: String? = nil, items: [Item] = []) {
    self.title = title
    self.author = author
    self.items = items
  }

  package var xml: String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" \
      xmlns:podcast="https://podcastindex.org/namespace/1.0">
      <channel>
      <title>\(title.escaped)</title>

      """
    if let author { text += "<itunes:author>\(author.escaped)</itunes:author>\n" }
    if let imageURL { text += "<itunes:image href=\"\(imageURL.escaped)\"/>\n" }
    text += more + items.map(\.xml).joined() + "</channel>\n</rss>\n"
    return text
  }
}

extension TestFeed.Item {
  fileprivate var xml: String {
    var text = "<item><title>\(title.escaped)</title>"
    if let guid { text += "<guid isPermaLink=\"false\">\(guid.escaped)</guid>" }
    if let published { text += "<pubDate>\(CivilTime.http(published))</pubDate>" }
    if let duration { text += "<itunes:duration>\(duration)</itunes:duration>" }
    let size = length.map { " length=\"\($0)\"" } ?? ""
    text += "<enclosure url=\"\(url.escaped)\"\(size) type=\"\(mediaType)\"/>\(more)</item>\n"
    return text
  }
}

extension String {
  /// For XML's text and attributes.
  fileprivate var escaped: String {
    reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      default: text.append(character)
      }
    }
  }
}
