package import PodcastModel

/// What a user brings along: a list of subscriptions (OPML 2.0, http://opml.org/spec2.opml), or of addresses; a backup of
/// podcastfs or of another program; or a file that holds one link.
package struct OPMLDocument: Hashable, Sendable {
  package var title: String?
  /// In the document's order. An address that comes twice is listed twice.
  package var feeds: [Feed] = []
  /// What could not be used or was repaired, one line each.
  package var warnings: [String] = []
  /// How many of these are entries that could not be used.
  package var refusals = 0
  package var episodes: [EpisodeReport] = []
  package var searches: [String] = []
  /// It is a state of podcastfs or another program's database. No OPML is one: strangers hand those on.
  package var isBackup = false
  /// The address that a link file holds, of a feed or a web page; nil for a list.
  package var link: String?

  package init(title: String? = nil, feeds: [Feed] = []) {
    (self.title, self.feeds) = (title, feeds)
  }

  package struct Feed: Hashable, Sendable {
    /// The feed's address, http or https.
    package var url: WebAddress
    package var title: String?
    /// What its reader calls it (`text`), where that is not the title.
    package var name: String?
    package var htmlURL: WebAddress?
    package var rules = SubscriptionRules()
    /// Its reader allowed it to be on a private network. Whoever reads a list decides whether that list may say so.
    package var mayBePrivate = false

    package init(url: WebAddress, title: String? = nil, name: String? = nil, htmlURL: WebAddress? = nil) {
      (self.url, self.title, self.name, self.htmlURL) = (url, title, name, htmlURL)
    }
  }

  /// Gives a feed of a backup a rule; one that cannot be read becomes a warning.
  mutating func set(_ key: SubscriptionRules.Key, to value: String, of feed: inout Feed) {
    do { try feed.rules.set(key, to: value) } catch {
      warnings.append("\(feed.title ?? feed.url.shown): \(error)")
    }
  }

  /// Names an entry of a backup that cannot be followed.
  mutating func refuse(_ title: String?) {
    warnings.append("“\(FeedText.oneLine(title ?? "a podcast"))” has no web address")
    refusals += 1
  }

  /// OPML 2.0 in UTF-8, an outline a feed, without folders. An attribute of our own marks feeds that may be private.
  /// - Parameter created: in seconds since 1970.
  package func text(created: Int64) -> String {
    let namespace = feeds.contains(where: \.mayBePrivate) ? " xmlns:podcastfs=\"urn:podcastfs\"" : ""
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <opml version="2.0"\(namespace)>
        <head>
          <title>\(XMLText.escaped(title ?? "Subscriptions"))</title>
          <dateCreated>\(CivilTime.rfc822(created))</dateCreated>
          <docs>http://opml.org/spec2.opml</docs>
        </head>
        <body>
      \(feeds.map(Self.outline).joined())\
        </body>
      </opml>

      """
  }

  package static func outline(of feed: Feed) -> String {
    let title = XMLText.escaped(PrintableText.line(feed.title ?? feed.url.shown))
    let name = feed.name.map { XMLText.escaped(PrintableText.line($0)) } ?? title
    let page = feed.htmlURL.map { " htmlUrl=\"\(XMLText.escaped($0.forRequest))\"" } ?? ""
    let address = XMLText.escaped(feed.url.forRequest)
    let mark = feed.mayBePrivate ? " podcastfs:private=\"true\"" : ""
    return
      "    <outline type=\"rss\" text=\"\(name)\" title=\"\(title)\" xmlUrl=\"\(address)\"\(page)\(mark)/>\n"
  }
}

extension OPMLDocument: FieldCoded {
  package init() { self.init(title: nil) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&title, &feeds, &warnings)
    try fields.code(&refusals, &episodes, &searches)
    try fields.code(&isBackup, &link)
  }
}

extension OPMLDocument.Feed: FieldCoded {
  package init() { self.init(url: "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&url, &title, &name)
    try fields.code(&htmlURL, &rules, &mayBePrivate)
  }
}
