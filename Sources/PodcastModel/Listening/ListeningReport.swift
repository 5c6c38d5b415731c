/// What another device or program says of one episode.
package struct ListeningReport: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    /// Both in milliseconds; the episode's length is nil where it does not say one. Near the end it means played.
    case position(Int64, of: Int64?)
    /// As podcastfs itself has it, whatever the length is: in milliseconds. A played episode that was begun again has both.
    case exactly(position: Int64, isPlayed: Bool)

    package static let unplayed = exactly(position: 0, isPlayed: false)
    package static let played = exactly(position: 0, isPlayed: true)
  }

  package var podcast: WebAddress
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
    case .exactly(let position, let isPlayed): (isPlayed ? 2 : 1, position, nil)
    case .position(let position, let length): (3, position, length)
    }
  }

  /// - Returns: nil where the kind is none.
  package init?(kind: Int64, position: Int64, length: Int64?) {
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
