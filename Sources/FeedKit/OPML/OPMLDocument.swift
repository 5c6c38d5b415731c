package import PodcastModel

/// A list of subscriptions (OPML 2.0, http://opml.org/spec2.opml), or of addresses; or a file that holds one link.
package struct OPMLDocument: Hashable, Sendable {
  package var title: String?
  /// In the document's order; an address that comes twice is here twice.
  package var feeds: [Feed] = []
  /// What could not be used or was repaired, one line each.
  package var warnings: [String] = []
  /// How many of these are entries that could not be used.
  package var refusals = 0
  /// The address that a link file holds, of a feed or a web page; nil for a list.
  package var link: String?

  package init(title: String? = nil, feeds: [Feed] = []) {
    self.title = title
    self.feeds = feeds
  }

  /// One subscription.
  package struct Feed: Hashable, Sendable {
    /// The feed's address, http or https.
    package var url: WebAddress
    package var title: String?
    /// What its reader calls it (`text`), where that is not the title.
    package var name: String?
    /// The podcast's web page.
    package var htmlURL: WebAddress?
    package init(url: WebAddress, title: String? = nil, name: String? = nil, htmlURL: WebAddress? = nil) {
      self.url = url
      self.title = title
      self.name = name
      self.htmlURL = htmlURL
    }
  }
}
