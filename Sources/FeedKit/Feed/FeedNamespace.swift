/// The vocabularies of feeds.
enum FeedNamespace {
  case rss, rdf, atom, itunes, podcast, media, content, dublinCore, unknown

  /// The vocabulary of a namespace's address and an element's prefix. The address decides where we know it;
  /// where it is missing or wrong, the prefix does, as usual prefixes are meant even where they are not
  /// declared.
  static func of(address: String?, prefix: String?) -> FeedNamespace {
    if let address, let found = known(address) { return found }
    switch prefix?.lowercased() {
    case nil: return address == nil ? .rss : .unknown
    case "itunes", "googleplay": return .itunes
    case "podcast": return .podcast
    case "media": return .media
    case "content": return .content
    case "dc", "dcterms": return .dublinCore
    case "atom", "atom10", "a10": return .atom
    case "rdf": return .rdf
    default: return .unknown
    }
  }

  private static func known(_ address: String) -> FeedNamespace? {
    var key = address.lowercased()[...]
    if let scheme = ["http://", "https://"].first(where: { key.hasPrefix($0) }) {
      key = key.dropFirst(scheme.count)
    }
    if key.hasPrefix("www.") { key = key.dropFirst(4) }
    while key.last == "/" || key.last == "#" { key.removeLast() }
    return table[String(key)]
  }

  private static let table: [String: FeedNamespace] = [
    "": .rss,
    "purl.org/rss/1.0": .rss,
    "my.netscape.com/rdf/simple/0.9": .rss,
    "channel.netscape.com/rdf/simple/0.9": .rss,
    "my.netscape.com/publish/formats/rss-0.91.dtd": .rss,
    "backend.userland.com/rss": .rss,
    "backend.userland.com/rss2": .rss,
    "backend.userland.com/rss091": .rss,
    "backend.userland.com/rss2.0": .rss,
    "blogs.law.harvard.edu/tech/rss": .rss,
    "cyber.law.harvard.edu/rss/rss.html": .rss,
    "rssboard.org/rss-specification": .rss,
    "w3.org/1999/02/22-rdf-syntax-ns": .rdf,
    "w3.org/2005/atom": .atom,
    "purl.org/atom/ns": .atom,
    "purl.org/atom-blog/ns": .atom,
    "itunes.com/dtds/podcast-1.0.dtd": .itunes,
    "itunes.apple.com/dtds/podcast-1.0.dtd": .itunes,
    "google.com/schemas/play-podcasts/1.0": .itunes,
    "google.com/schemas/play-podcasts/1.0/play-podcasts.xsd": .itunes,
    "podcastindex.org/namespace/1.0": .podcast,
    "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": .podcast,
    "search.yahoo.com/mrss": .media,
    "purl.org/rss/1.0/modules/content": .content,
    "purl.org/dc/elements/1.1": .dublinCore,
    "purl.org/dc/elements/1.0": .dublinCore,
    "purl.org/dc/terms": .dublinCore,
  ]
}
