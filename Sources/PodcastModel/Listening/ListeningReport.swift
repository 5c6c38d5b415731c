/// What another device or program says of one episode.
package struct ListeningReport: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    /// Neither begun nor played.
    case unplayed
    case played
    /// Both in milliseconds; the episode's length is nil where it does not say one. Near the end it means played.
    case position(Int64, of: Int64?)
    /// As podcastfs itself has it, whatever the length is: in milliseconds, above 0. A played episode that was begun again
    /// has both.
    case exactly(position: Int64, isPlayed: Bool)
  }

  /// The podcast's feed.
  package var podcast: WebAddress
  /// The enclosure's address.
  package var episode: WebAddress
  package var guid: String?
  package var state: State
  /// When that was so, in seconds since 1970 by the clock of who reports it.
  package var time: Int64

  package init(podcast: WebAddress, episode: WebAddress, guid: String?, state: State, time: Int64) {
    self.podcast = podcast
    self.episode = episode
    self.guid = Self.meaningful(guid)
    self.state = state
    self.time = time
  }

  /// Some programs write "null" where there is no guid.
  package static func meaningful(_ guid: String?) -> String? {
    guard let guid else { return nil }
    let isBlank = guid.allSatisfy { $0.isWhitespace || $0.isNewline }
    return isBlank || guid.lowercased() == "null" ? nil : guid
  }

  /// Of several reports of one episode the one that counts: the latest, and among equals the same one on every device.
  package func isBetter(than other: ListeningReport) -> Bool {
    (time, state.rank) > (other.time, other.state.rank)
  }
}

extension ListeningReport.State {
  /// As rows and pipes have it.
  package var numbers: (kind: Int64, position: Int64, length: Int64?) {
    switch self {
    case .unplayed: (1, 0, nil)
    case .played: (2, 0, nil)
    case .position(let position, let length): (3, position, length)
    case .exactly(let position, let isPlayed): (isPlayed ? 5 : 4, position, nil)
    }
  }

  /// - Returns: nil where the kind is none.
  package init?(kind: Int64, position: Int64, length: Int64?) {
    switch kind {
    case 1: self = .unplayed
    case 2: self = .played
    case 3: self = .position(position, of: length)
    case 4, 5: self = .exactly(position: position, isPlayed: kind == 5)
    default: return nil
    }
  }

  /// Orders states of the same second.
  fileprivate var rank: Int64 {
    switch self {
    case .unplayed: 0
    case .position(let milliseconds, _), .exactly(let milliseconds, false): 1 + milliseconds
    case .exactly(let milliseconds, true): .max / 2 + milliseconds / 2
    case .played: .max
    }
  }

  /// The state as this device keeps it.
  /// - Parameters:
  ///   - duration: the episode's as its feed says it, in seconds.
  ///   - margin: how many seconds before the end count as the end.
  ///   - time: seconds since 1970 by our own clock.
  package func listening(duration: Int?, margin: Int, time: Int64) -> ListeningState {
    var state = ListeningState()
    switch self {
    case .unplayed: state.setPlayed(false, now: time)
    case .played: state.setPlayed(true, now: time)
    case .position(let milliseconds, let length):
      let length = length.map { Int($0 / 1000) } ?? duration
      state.setPosition(milliseconds, duration: length, margin: margin, now: time)
    case .exactly(let position, let isPlayed):
      state = ListeningState(position: position, isPlayed: isPlayed, lastPlayed: time, changed: time)
    }
    return state
  }
}
