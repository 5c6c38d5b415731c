package import PodcastModel

/// What a backup says of one episode.
package struct ImportedEpisode: Hashable, Sendable {
  package var podcast: WebAddress
  /// Its enclosure's.
  package var address: WebAddress
  package var guid: String?
  /// nil where the backup says nothing of how far the listener is.
  package var state: ListeningReport.State?
  /// When that was so, in seconds since 1970; 0 where the backup does not say.
  package var time: Int64 = 0
  /// When it was played last; 0 where it was not, nil where the backup does not tell that from `time`.
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
}

/// A rule of a subscription, as its attribute has it.
package struct ImportedRule: Hashable, Sendable {
  package var key: String
  package var value: String

  package init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
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

// How they go from the process that read them to the one that asked.

extension HiddenResult: FieldCoded {
  package init() { self.init(search: "", feed: "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&search)
    try fields.code(&feed)
  }
}

extension ImportedRule: FieldCoded {
  package init() { self.init("", "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&key)
    try fields.code(&value)
  }
}

extension ImportedEpisode: FieldCoded {
  package init() { self.init(podcast: "", address: "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&podcast, &address, &guid)
    try fields.code(&time, &lastPlayed, &isKept)
    try fields.code(&isHidden)
    try fields.code(&queuePlace)
    var (kind, position, length): (UInt64, Int64, Int64?) =
      switch state {
      case nil: (0, 0, nil)
      case .unplayed: (1, 0, nil)
      case .played: (2, 0, nil)
      case .position(let position, let length): (3, position, length)
      case .exactly(let position, let isPlayed): (isPlayed ? 5 : 4, position, nil)
      }
    try fields.code(&kind, &position, &length)
    switch kind {
    case 0: state = nil
    case 1: state = .unplayed
    case 2: state = .played
    case 3: state = .position(position, of: length)
    case 4, 5: state = .exactly(position: position, isPlayed: kind == 5)
    default: throw .malformed
    }
  }
}
