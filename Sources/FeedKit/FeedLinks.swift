package import PodcastModel

/// Feeds that a web page names: `<link rel="alternate" type="application/rss+xml" href="…">` (RSS autodiscovery).
package enum FeedLinks {
  /// How much of a page is looked at, in bytes.
  private static let limit = 1 << 20
  /// Feeds that are taken of one page.
  private static let most = 20
  private static let types: Set<String> = [
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml", "text/xml",
  ]

  package static func find(html: [UInt8], baseURL: WebAddress) -> [WebAddress] {
    html.withBytes { find($0, baseURL: baseURL) }
  }

  /// The addresses of the feeds, absolute, in the page's order.
  /// - Parameter baseURL: where the page came from.
  static func find(_ page: UnsafeRawBufferPointer, baseURL: WebAddress) -> [WebAddress] {
    let html = UnsafeRawBufferPointer(rebasing: page.prefix(limit)).bindMemory(to: UInt8.self)
    var base = baseURL
    var found: [WebAddress] = []
    var reader = HTMLReader(html, references: false)
    while let piece = reader.next() {
      guard case .start(let tag) = piece, ["link", "base"].contains(tag.name),
        let href = tag.attribute("href")
      else { continue }
      if tag.name == "base" {
        base = FeedAddress.absolute(href, base: baseURL) ?? base
        continue
      }
      let relations = tag.attribute("rel")?.lowercased().split(whereSeparator: \.isWhitespace) ?? []
      let type = tag.attribute("type").map(MediaType.essence) ?? ""
      guard relations.contains("alternate"), types.contains(type),
        let url = FeedAddress.absolute(href, base: base) ?? SubscriptionAddress.normalized(href),
        !found.contains(url), found.count < most
      else { continue }
      found.append(url)
    }
    return found
  }
}
