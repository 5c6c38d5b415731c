package import PodcastModel

/// What a backup, or another device, says of one episode.
package struct EpisodeReport: Hashable, Sendable {
  /// Its feed's address.
  package var podcast: WebAddress
  /// Its enclosure's.
  package var address: WebAddress
  package var guid: String?
  /// nil where nothing is said of how far the listener is.
  package var state: ListeningReport.State?
  /// When that was so, in seconds since 1970; 0 where nobody says.
  package var time: Int64 = 0
  /// When it was played last; 0 where it was not, nil where only `time` tells.
  package var lastPlayed: Int64?
  package var isKept = false
  package var isHidden = false
  /// Its place in the queue, from 1; 0 where it is not in it.
  package var queuePlace = 0

  package init(podcast: WebAddress, address: WebAddress, guid: String? = nil) {
    self.podcast = podcast
    self.address = address
    self.guid = ListeningReport.meaningful(guid)
  }

  var isNews: Bool { state != nil || isKept || isHidden || queuePlace > 0 }

  /// Says what the catalogue has.
  package mutating func take(_ listening: ListeningState) {
    guard let changed = listening.changed else { return }
    state = .exactly(position: listening.position, isPlayed: listening.isPlayed)
    (time, lastPlayed) = (changed, listening.lastPlayed ?? 0)
  }

  /// What the catalogue is to have.
  /// - Parameters: see `ListeningReport.State.listening`.
  package func listening(duration: Int?, margin: Int, time: Int64) -> ListeningState? {
    state?.listening(duration: duration, margin: margin, time: time).with(lastPlayed: lastPlayed)
  }
}

/// A podcast that was hidden in a search.
package struct HiddenResult: Hashable, Sendable {
  package var search: String
  package var feed: WebAddress

  package init(search: String, feed: WebAddress) {
    self.search = search
    self.feed = feed
  }
}

extension HiddenResult: FieldCoded {
  package init() { self.init(search: "", feed: "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&search, &feed)
  }
}

extension EpisodeReport: FieldCoded {
  package init() { self.init(podcast: "", address: "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&podcast, &address, &guid)
    try fields.code(&time, &lastPlayed, &isKept)
    try fields.code(&isHidden, &queuePlace)
    var (kind, position, length) = state?.numbers ?? (0, 0, nil)
    try fields.code(&kind, &position, &length)
    state = ListeningReport.State(kind: kind, position: position, length: length)
  }
}
