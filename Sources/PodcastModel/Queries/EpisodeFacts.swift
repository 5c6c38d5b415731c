/// What a query looks at in one episode: columns of the catalogue, the state of its download, the marks of its listener.
package struct EpisodeFacts: Hashable, Sendable {
  /// The catalogue's number.
  package var id: Int64
  package var title: String
  /// The title of the podcast.
  package var show: String
  /// Seconds since 1970.
  package var published: Int64
  /// In seconds; nil where the feed does not say it.
  package var duration: Int?
  package var season: Int?
  /// How far the listener is, in seconds; 0 at the start.
  package var position: Double = 0
  /// Its place in the queue, from 1; nil where it is not in the queue.
  package var queuePlace: Int?
  package var download: Download = .none
  package var marks: Marks = []

  /// The state of the episode's download, as far as queries distinguish it.
  package enum Download: Hashable, Sendable { case none, running, paused, failed, complete }

  package struct Marks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let played = Marks(rawValue: 1)
    /// Never evicted from the cache.
    package static let kept = Marks(rawValue: 2)
    /// Its podcast is subscribed.
    package static let followed = Marks(rawValue: 4)
    /// Removed from its subscription by the user.
    package static let hidden = Marks(rawValue: 8)
  }

  package init(id: Int64, title: String, show: String, published: Int64) {
    self.id = id
    self.title = title
    self.show = show
    self.published = published
  }
}
