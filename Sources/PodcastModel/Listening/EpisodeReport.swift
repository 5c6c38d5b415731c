/// What a backup, or another device, says of one episode.
package struct EpisodeReport: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    /// Both in milliseconds; the episode's length is nil where it does not say one. Near the end it means played.
    case position(Int64, of: Int64?)
    /// As podcastfs itself has it, whatever the length is: in milliseconds. A played episode that was begun again has both.
    case exactly(position: Int64, isPlayed: Bool)
    package static let unplayed = exactly(position: 0, isPlayed: false)
    package static let played = exactly(position: 0, isPlayed: true)
  }

  /// Its feed's address.
  package var podcast: WebAddress
  /// Its enclosure's.
  package var address: WebAddress
  package var guid: String?
  /// nil where nothing is said of how far the listener is.
  package var state: State?
  /// When that was so, in seconds since 1970 by the clock of who reports it; 0 where nobody says.
  package var time: Int64 = 0
  /// When the episode was played last: 0 if never. Nil where the report does not say so: `time` counts then.
  package var lastPlayed: Int64?
  package var isKept = false
  package var isHidden = false
  /// Its place in the queue, from 1; 0 where it is not in it.
  package var queuePlace = 0

  package init(podcast: WebAddress, address: WebAddress, guid: String? = nil) {
    (self.podcast, self.address) = (podcast, address)
    self.guid = Self.meaningful(guid)
  }

  package var isNews: Bool { state != nil || isKept || isHidden || queuePlace > 0 }

  /// Of several reports of one episode the one that counts: the latest, and among equals the same one on every device.
  package func isBetter(than other: EpisodeReport) -> Bool {
    (time, state?.rank ?? 0) > (other.time, other.state?.rank ?? 0)
  }

  /// Some programs write "null" where there is no guid.
  private static func meaningful(_ guid: String?) -> String? {
    guard let guid else { return nil }
    let isBlank = guid.allSatisfy { $0.isWhitespace || $0.isNewline }
    return isBlank || guid.lowercased() == "null" ? nil : guid
  }

  package mutating func take(_ listening: ListeningState) {
    guard let changed = listening.changed else { return }
    state = .exactly(position: listening.position, isPlayed: listening.isPlayed)
    (time, lastPlayed) = (changed, listening.lastPlayed ?? 0)
  }

  package func listening(duration: Int?, margin: Int, time: Int64) -> ListeningState? {
    state?.listening(duration: duration, margin: margin, time: time).with(lastPlayed: lastPlayed)
  }
}

extension EpisodeReport.State {
  /// As rows and pipes have it.
  fileprivate var numbers: (kind: Int64, position: Int64, length: Int64?) {
    switch self {
    case .exactly(let position, let isPlayed): (isPlayed ? 2 : 1, position, nil)
    case .position(let position, let length): (3, position, length)
    }
  }

  fileprivate init?(kind: Int64, position: Int64, length: Int64?) {
    switch kind {
    case 1, 2: self = .exactly(position: position, isPlayed: kind == 2)
    case 3: self = .position(position, of: length)
    default: return nil
    }
  }

  /// Orders states of the same second.
  fileprivate var rank: Int64 {
    switch self {
    case .unplayed: 0
    case .played: .max
    case .position(let milliseconds, _), .exactly(let milliseconds, false): 1 + milliseconds
    case .exactly(let milliseconds, true): .max / 2 + milliseconds / 2
    }
  }

  /// The state as this device keeps it.
  /// - Parameters:
  ///   - duration: the episode's as its feed says it, in seconds.
  ///   - margin: how many seconds before the end count as the end.
  ///   - time: seconds since 1970 by our own clock.
  package func listening(duration: Int?, margin: Int, time: Int64) -> ListeningState {
    switch self {
    case .position(let milliseconds, let length):
      var state = ListeningState()
      let length = length.map { Int($0 / 1000) } ?? duration
      state.setPosition(milliseconds, duration: length, margin: margin, now: time)
      return state
    case .exactly(let position, let isPlayed):
      let lastPlayed = self == .unplayed ? nil : time
      return ListeningState(position: position, isPlayed: isPlayed, lastPlayed: lastPlayed, changed: time)
    }
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
    state = State(kind: kind, position: position, length: length)
  }
}
