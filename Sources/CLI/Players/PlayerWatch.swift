internal import BusKit
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import WebValues

/// Follows the session's media players (MPRIS D-Bus Interface Specification 2.2) and stores the positions of the episodes that
/// they play. It belongs to its loop's thread. While no episode plays it sleeps until a player says something.
final class PlayerWatch {
  private let loop: EventLoop
  private var bus: Bus?
  /// By their connections' names, which signals come from.
  private var players: [String: Player] = [:]
  private var timer: EventLoop.Timer?

  private struct Player {
    var name: String
    var track: String?
    var episode: PlayedEpisode?
  }

  private static let interface = "org.mpris.MediaPlayer2.Player"
  private static let path = "/org/mpris/MediaPlayer2"
  private static let prefix = "org.mpris.MediaPlayer2."
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let daemon = "org.freedesktop.DBus"
  /// Seconds between two stores of what plays.
  private static let step = 15.0

  /// - Throws: `BusError` where there is no session's bus.
  init(_ loop: EventLoop, which: Bus.Which = .session) throws {
    self.loop = loop
    let bus = try Bus(which, loop: loop) { [unowned self] in end() }
    self.bus = bus
    bus.match(
      "type='signal',sender='\(Self.daemon)',member='NameOwnerChanged',arg0namespace='org.mpris.MediaPlayer2'"
    ) { [unowned self] in ownerChanged($0.values.map { $0.text ?? "" }) }
    bus.match(
      "type='signal',path='\(Self.path)',interface='\(Self.properties)',member='PropertiesChanged',"
        + "arg0='\(Self.interface)'"
    ) { [unowned self] in if $0.values.count > 1 { changed($0.sender, $0.values[1]) } }
    bus.match("type='signal',path='\(Self.path)',interface='\(Self.interface)',member='Seeked'") {
      [unowned self] in
      guard let place = $0.values.first?.number else { return }
      players[$0.sender]?.episode?.moved(to: place / 1e6, at: .now)
      store($0.sender)
    }
    bus.call(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "ListNames") { [unowned self] answer in
      for name in ((try? answer.get())?.first?.list ?? []).compactMap(\.text)
      where name.hasPrefix(Self.prefix) {
        adopt(name)
      }
    }
  }

  /// The session has ended: players have too.
  private func end() {
    for sender in players.keys { finish(sender) }
    loop.stop()
  }

  private func adopt(_ name: String) {
    bus?.call(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "GetNameOwner", [.string(name)]) {
      [unowned self] answer in
      if let owner = (try? answer.get())?.first?.text { ownerChanged([name, "", owner]) }
    }
  }

  private func ownerChanged(_ names: [String]) {
    guard names.count == 3 else { return }
    if players[names[1]]?.name == names[0] {
      finish(names[1])
      players[names[1]] = nil
    }
    guard !names[2].isEmpty, players[names[2]] == nil else { return }
    players[names[2]] = Player(name: names[0])
    ask(names[2], "GetAll", []) { [unowned self] in changed(names[2], $0) }
  }

  private func ask(
    _ sender: String, _ member: String, _ more: [BusValue], _ answered: @escaping (BusValue) -> Void
  ) {
    bus?.call(sender, Self.path, Self.properties, member, [.string(Self.interface)] + more) { answer in
      if let value = (try? answer.get())?.first { answered(value) }
    }
  }

  private func changed(_ sender: String, _ values: BusValue) {
    guard players[sender] != nil else { return }
    if let metadata = values["Metadata"] { opened(sender, metadata) }
    if let place = values["Position"]?.number { players[sender]?.episode?.moved(to: place / 1e6, at: .now) }
    let status = values["PlaybackStatus"]?.text
    if status == "Stopped" { return finish(sender) }
    if status != nil || values["Rate"] != nil {
      let isPlaying = status.map { $0 == "Playing" } ?? players[sender]?.episode?.isPlaying ?? false
      players[sender]?.episode?.played(isPlaying, rate: values["Rate"]?.number, at: .now)
    }
    if players[sender]?.episode != nil { locate(sender) }
  }

  /// A player has another file, or knows more of it.
  private func opened(_ sender: String, _ metadata: BusValue) {
    let path = metadata["xesam:url"]?.text.flatMap(Self.path(of:))
    // "mpris:length" is in microseconds.
    let length = metadata["mpris:length"]?.number.map { $0 / 1e6 }
    players[sender]?.track = metadata["mpris:trackid"]?.text
    if let known = players[sender]?.episode, known.path == path, known.length == length || length == nil {
      return
    }
    let isSame = path != nil && players[sender]?.episode?.path == path
    let before = players[sender]?.episode
    if !isSame { finish(sender) }
    guard let path, (try? ExtendedAttributes.get("user.podcastfs.state", of: path)) ?? nil != nil else {
      return
    }
    let stored = (try? ExtendedAttributes.get("user.podcastfs.position", of: path)) ?? nil
    var episode = PlayedEpisode(path, length: length, stored: stored.flatMap { Double($0) } ?? 0, at: .now)
    if isSame, let before {
      episode.moved(to: before.place(at: .now), at: .now)
      episode.played(before.isPlaying, rate: nil, at: .now)
    }
    players[sender]?.episode = episode
    // A player that goes on from one file to the next may not say that it plays.
    if before == nil || !isSame {
      ask(sender, "GetAll", []) { [unowned self] in
        if let status = $0["PlaybackStatus"] { changed(sender, .dictionary(["PlaybackStatus": status])) }
      }
    }
  }

  /// Asks where a player is, and stores that.
  private func locate(_ sender: String) {
    ask(sender, "Get", [.string("Position")]) { [unowned self] answer in
      if let place = answer.number { players[sender]?.episode?.moved(to: place / 1e6, at: .now) }
      resume(sender)
      store(sender)
    }
  }

  /// Sends a player that has begun an episode at its start to where it was left.
  private func resume(_ sender: String) {
    guard let track = players[sender]?.track, let place = players[sender]?.episode?.takeResumption(at: .now)
    else {
      return
    }
    bus?.call(
      sender, Self.path, Self.interface, "SetPosition", [.objectPath(track), .int64(Int64(place * 1e6))])
  }

  /// In seconds.
  private static let longestEpisode = 1e6

  private func store(_ sender: String, isOver: Bool = false) {
    if let episode = players[sender]?.episode,
      let place = players[sender]?.episode?.takePosition(at: .now, isOver: isOver),
      // A player may say anything.
      (0..<Self.longestEpisode).contains(place)
    {
      // The feed's length may be another one than the file's.
      let isWhole = isOver && place == episode.length
      let tenths = Int64((place * 10).rounded())
      let (name, value) = isWhole ? ("played", "1") : ("position", "\(tenths / 10).\(tenths % 10)")
      // It may be another user's, or have gone.
      try? ExtendedAttributes.set("user.podcastfs." + name, of: episode.path, to: value)
    }
    setTimer()
  }

  private func finish(_ sender: String) {
    store(sender, isOver: true)
    players[sender]?.episode = nil
    setTimer()
  }

  /// Looks again while an episode plays.
  private func setTimer() {
    let isPlaying = players.values.contains { $0.episode?.isPlaying ?? false }
    if !isPlaying, let timer {
      loop.cancel(timer)
      self.timer = nil
    } else if isPlaying, timer == nil {
      timer = loop.schedule(at: .after(Self.step)) { [unowned self] in
        timer = nil
        for (sender, player) in players where player.episode?.isPlaying ?? false { locate(sender) }
        setTimer()
      }
    }
  }

  /// The file of an address (RFC 8089); some players give its path.
  static func path(of address: String) -> String? {
    if address.hasPrefix("/") { return address }
    guard address.hasPrefix("file://") else { return nil }
    let path = address.dropFirst("file://".count).drop { $0 != "/" }
    return String(decoding: PercentEncoding.decode(path.utf8), as: UTF8.self)
  }
}
