/// A podcast as the catalogue knows it: from a search's answer until its feed has been fetched, then from
/// the feed's channel.
package struct Podcast: Hashable, Sendable, Identifiable {
  /// The catalogue's number for it, never given to another one.
  package var id: Int64 = 0
  package var feedURL: WebAddress = ""
  package var title = ""
  /// A directory's name for it, unique among all podcasts of the catalogue without regard to case, given
  /// once: in `Downloaded/`, and in the names of `Latest/` and `Downloading/`.
  package var name = ""
  package var author: String?
  package var link: WebAddress?
  /// RFC 5646 language tag.
  package var language: String?
  package var categories: [String] = []
  package var description: String?
  package var imageURL: WebAddress?
  package var explicit: Bool?
  /// When the catalogue first heard of it, in seconds since 1970.
  package var created: Int64 = 0
  /// Episodes that the catalogue has of it; 0 before its feed has been fetched.
  package var episodeCount: Int = 0
  /// Those of them that are neither played nor hidden.
  package var unplayedCount: Int = 0
  /// When its feed was last fetched or found unchanged, in seconds since 1970; nil before the first time.
  package var lastRefresh: Int64?
  /// When it is due again, in seconds since 1970.
  package var nextRefresh: Int64?
  /// Why the last refresh failed: one line for a person; nil after one that worked.
  package var error: String?
  /// Whether its enclosures may be on private, loopback or link-local hosts: only where its feed is.
  package var allowsPrivateHosts: Bool = false
  /// Whether a public directory has named its feed: then its addresses are shown whole (`WebAddress.shown`).
  package var isListed: Bool = false

  package init() {}

  package var isFetched: Bool { lastRefresh != nil }
}
