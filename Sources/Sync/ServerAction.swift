package import Catalog
package import PodcastModel

/// An action as the servers have it (gPodder API 2, "Episode Actions"), and as their clients write it.
package struct ServerAction: Hashable, Sendable {
  package var report: EpisodeReport

  /// The time of an action that says nothing: before all others.
  package static let noTime: Int64 = -1

  /// - Parameter isOnlyOne: the server keeps no other action of the episode. One that says nothing has then taken the place
  ///   of one that did, and gets `noTime`.
  /// - Returns: nil for what says nothing of how far somebody is: downloads, deletions, positions of 0, and the triples of
  ///   -1 of some clients.
  package init?(_ value: JSONValue, isOnlyOne: Bool = false) {
    guard let podcast = value["podcast"]?.text, let episode = value["episode"]?.text,
      let action = value["action"]?.text?.lowercased()
    else { return nil }
    let state: EpisodeReport.State
    let position = value["position"]?.seconds ?? 0
    let isEmpty = action == "play" && position <= 0
    switch action {
    case "play" where isEmpty:
      guard isOnlyOne else { return nil }
      state = .unplayed
    case "play":
      let total = value["total"]?.seconds.flatMap { $0 > 0 ? $0 : nil }
      if let total, let started = value["started"]?.seconds, started >= total, position < total {
        // The listener went on from the end: to a played episode.
        state = .exactly(position: position * 1000, isPlayed: true)
      } else {
        // The first second stands for the beginning where there is no `new`.
        state = position == 1 ? .unplayed : .position(position * 1000, of: total.map { $0 * 1000 })
      }
    case "new": state = .unplayed
    default: return nil
    }
    report = EpisodeReport(
      podcast: WebAddress(podcast), address: WebAddress(episode), guid: value["guid"]?.text)
    report.state = state
    report.time = isEmpty ? Self.noTime : max(value["timestamp"].map(Self.time) ?? 0, 0)
  }

  /// Times are in UTC, with or without a zone; some servers give numbers.
  private static func time(_ value: JSONValue) -> Int64 {
    value.text.map { value.wholeNumber ?? DateText.seconds($0) ?? 0 } ?? 0
  }

  /// An action that tells a state.
  /// - Parameters:
  ///   - feed: as the server writes it.
  ///   - address: the enclosure's, without secrets.
  ///   - hasNew: whether the server keeps the action `new`.
  package static func json(
    of episode: ListenedEpisode, _ state: ExchangedState, feed: WebAddress, address: WebAddress,
    device: String?,
    hasNew: Bool
  ) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("podcast", .string(feed.forRequest)), ("episode", .string(address.forRequest)),
    ]
    if let guid = episode.guid { members.append(("guid", .string(guid))) }
    if let device { members.append(("device", .string(device))) }
    let isNew = !state.isPlayed && state.position == 0
    members.append(("action", isNew && hasNew ? "new" : "play"))
    members.append(("timestamp", .string(String(CivilTime.iso8601(state.time).dropLast()))))
    if !isNew || !hasNew {
      let total = max(episode.duration.map { Int64($0) } ?? unknownLength, 2)
      // A played episode that was begun again has gone on from its end.
      let isBegunAgain = state.isPlayed && state.position >= 2000
      // A server without `new` hears of the first second: its clients take a position of 0 for none.
      let position = state.isPlayed && !isBegunAgain ? total : max(state.position / 1000, 1)
      let end = max(total, isBegunAgain ? position + 1 : position)
      members += [
        ("started", .integer(isBegunAgain ? end : 0)), ("position", .integer(position)),
        ("total", .integer(end)),
      ]
    }
    return .object(members)
  }

  /// In seconds. Positions are taken only with a length; other clients know the episode's true one themselves.
  private static let unknownLength: Int64 = 86_400
}

extension JSONValue {
  /// Whole seconds, also of a number with decimals.
  fileprivate var seconds: Int64? {
    if case .number(let number) = self, number.magnitude < 1e9 { return Int64(number) }
    return wholeNumber.flatMap { $0.magnitude < 1_000_000_000 ? $0 : nil }
  }
}
