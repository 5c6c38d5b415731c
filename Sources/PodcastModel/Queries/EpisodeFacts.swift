/// What a query looks at in one episode: columns of the catalogue, the state of its download, the marks of its listener.
package struct EpisodeFacts: Hashable, Sendable {
  package var id: Int64
  /// For queries, as titles are ordered (`EpisodeQuery.titleKey`).
  package var title: String
  package var show: String
  /// The name of its folder in `Subscriptions/`, which users may change; nil where it is not followed.
  package var folder: String?
  package var published: Int64
  /// In seconds; nil where the feed does not say it.
  package var duration: Int?
  package var season: Int?
  /// Its place in the queue, from 1; nil where it is not in the queue.
  package var queuePlace: Int?
  package var download = DownloadStage.absent
  package var marks: Marks = []

  package struct Marks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let played = Marks(rawValue: 1)
    /// Never evicted from the cache.
    package static let kept = Marks(rawValue: 2)
    package static let followed = Marks(rawValue: 4)
    /// The user has removed the episode from its subscription: the folder does not list it.
    package static let hidden = Marks(rawValue: 8)
    /// The listener is behind its start.
    package static let begun = Marks(rawValue: 16)
  }

  package init(id: Int64, title: String, show: String, published: Int64) {
    (self.id, self.title, self.show, self.published) = (id, title, show, published)
  }

  package func has(_ state: EpisodeQuery.State) -> Bool {
    switch state {
    case .unplayed: !marks.contains(.played)
    case .started: !marks.contains(.played) && marks.contains(.begun)
    case .played: marks.contains(.played)
    case .cached: download == .complete
    case .kept: marks.contains(.kept)
    case .followed: marks.contains(.followed)
    case .queued: queuePlace != nil
    case .downloading: download == .running
    case .paused: download == .paused
    case .failed: download == .failed
    case .hidden: marks.contains(.hidden)
    }
  }
}

/// Where an episode's download stands, as far as folders distinguish it.
package enum DownloadStage: Hashable, Sendable {
  case absent
  case running
  case paused, failed, complete
}
