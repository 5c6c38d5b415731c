internal import BusKit
internal import PodcastModel
internal import PosixKit
internal import WebValues

extension Command {
  static let players = Command(
    """
    podcastfs players

    Stores your position while a media player plays an episode, and resumes there when a player opens it again. It knows all
    players that the desktop can control (MPRIS): VLC, Celluloid, Rhythmbox, Audacious, mpv with mpv-mpris. Runs until the
    session ends. To start it at each login:

    systemctl --user enable --now podcastfs-players
    """
  ) { arguments in
    _ = try arguments.operands()
    let loop = try EventLoop()
    let watch: PlayerWatch
    do { watch = try PlayerWatch(loop) } catch {
      throw CommandFailure("there is no desktop session: \(error)")
    }
    Signals.blockEnding()
    PosixThread.start("signals") {
      Signals.waitForEnding()
      loop.stop()
    }
    loop.run()
    withExtendedLifetime(watch) {}
  }
}

/// Follows the session's media players (MPRIS D-Bus Interface Specification 2.2) and stores the positions of the episodes that
/// they play. It belongs to its loop's thread. While no episode plays it sleeps until a player says something.
final class PlayerWatch {
  private let loop: EventLoop
  private var bus: Bus?
  /// By the names of their players' connections, which signals come from.
  private var episodes: [String: PlayedEpisode] = [:]
  private var timer: EventLoop.Timer?
  private static let interface = "org.mpris.MediaPlayer2.Player"
  private static let path = "/org/mpris/MediaPlayer2"
  private static let prefix = "org.mpris.MediaPlayer2."
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let daemon = "org.freedesktop.DBus"
  /// Seconds between two looks at what plays.
  private static let step = 15.0
  /// In seconds.
  private static let longestEpisode = 1e6

  /// - Throws: `BusError` where there is no session's bus.
  init(_ loop: EventLoop) throws {
    self.loop = loop
    // With the session its players have ended, too.
    let bus = try Bus(.session, loop: loop) { loop.stop() }
    self.bus = bus
    bus.match(
      "type='signal',sender='\(Self.daemon)',member='NameOwnerChanged',arg0namespace='org.mpris.MediaPlayer2'"
    ) { [unowned self] in
      // A player's name, its connection before, and its connection now.
      let names = $0.values.compactMap(\.text)
      guard names.count == 3 else { return }
      episodes[names[1]] = nil
      if !names[2].isEmpty { look(at: names[2]) }
    }
    for (interface, member) in [(Self.properties, "PropertiesChanged"), (Self.interface, "Seeked")] {
      bus.match("type='signal',path='\(Self.path)',interface='\(interface)',member='\(member)'") {
        [unowned self] in look(at: $0.sender)
      }
    }
    bus.call(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "ListNames") { [unowned self] answer in
      for name in ((try? answer.get())?.first?.list ?? []).compactMap(\.text)
      where name.hasPrefix(Self.prefix) {
        bus.call(Self.daemon, "/org/freedesktop/DBus", Self.daemon, "GetNameOwner", [.string(name)]) {
          [unowned self] answer in
          if let owner = (try? answer.get())?.first?.text { look(at: owner) }
        }
      }
    }
  }

  private func look(at player: String) {
    bus?.call(player, Self.path, Self.properties, "GetAll", [.string(Self.interface)]) {
      [unowned self] answer in
      if let values = (try? answer.get())?.first { heard(from: player, values) }
    }
  }

  /// Stores where a player is, and sends a player that has begun an episode at its start to where the episode was left.
  private func heard(from player: String, _ values: BusValue) {
    let path = values["Metadata"]?["xesam:url"]?.text.flatMap(Self.path(of:))
    let status = values["PlaybackStatus"]?.text
    var episode = episodes[player]
    if episode?.path != path { episode = path.flatMap(Self.episode) }
    if status == "Stopped" { episode = nil }
    episode?.isPlaying = status == "Playing"
    if let place = values["Position"]?.number { episode?.moved(to: place / 1e6) }
    if let track = values["Metadata"]?["mpris:trackid"]?.text, let place = episode?.takeResumption() {
      bus?.call(
        player, Self.path, Self.interface, "SetPosition", [.objectPath(track), .int64(Int64(place * 1e6))])
    }
    // A player may say anything.
    if let path, let place = episode?.takePosition(), (0..<Self.longestEpisode).contains(place) {
      let tenths = Int64((place * 10).rounded())
      // The episode may be another user's, or have gone.
      try? MountedFile(path: path).set("position", to: "\(tenths / 10).\(tenths % 10)")
    }
    episodes[player] = episode
    setTimer()
  }

  /// Nil where the file is no episode in a mount.
  private static func episode(_ path: String) -> PlayedEpisode? {
    guard MountedFile(path: path).text("state") != nil else { return nil }
    let stored = MountedFile(path: path).text("position").flatMap { Double($0) }
    return PlayedEpisode(path, stored: stored ?? 0)
  }

  private func setTimer() {
    guard timer == nil, episodes.values.contains(where: \.isPlaying) else { return }
    timer = loop.schedule(at: .after(Self.step)) { [unowned self] in
      timer = nil
      for (player, episode) in episodes where episode.isPlaying { look(at: player) }
    }
  }

  /// The file of an address (RFC 8089); some players give its path.
  static func path(of address: String) -> String? {
    if address.hasPrefix("/") { return address }
    guard address.hasPrefix("file://") else { return nil }
    // Behind a host's name, which is this machine's.
    let path = address.dropFirst("file://".count).drop { $0 != "/" }
    return String(decoding: PercentEncoding.decode(path.utf8), as: UTF8.self)
  }
}

/// An episode that a player has open, and where it is in it. A value: the player's words go in. Positions are in seconds.
private struct PlayedEpisode {
  let path: String
  var isPlaying = false
  private var position = 0.0
  /// What was stored last; before that, what the episode had when the player opened it.
  private var stored: Double
  private var resumption = Resumption.isDue

  private enum Resumption {
    case isDue
    /// The player has been sent to where the episode was left, and may still say where it was before.
    case isAwaited
    case isOver
  }

  /// A player that is so near the start has just opened the episode.
  private static let start = 5.0
  /// Positions that are so close are the same.
  private static let least = 1.0
  init(_ path: String, stored: Double) { (self.path, self.stored) = (path, stored) }

  mutating func moved(to seconds: Double) {
    if resumption == .isAwaited {
      if seconds < Self.start { return }
      resumption = .isOver
    }
    position = max(seconds, 0)
  }

  /// Where the player is to be sent, once: the episode was left there, and the player has begun at its start.
  mutating func takeResumption() -> Double? {
    guard isPlaying, resumption == .isDue else { return nil }
    resumption = .isOver
    guard stored > Self.start, position < Self.start else { return nil }
    (position, resumption) = (stored, .isAwaited)
    return stored
  }

  /// What is to be stored, where that is something new. A player that has not begun says nothing of it.
  mutating func takePosition() -> Double? {
    let place = position < Self.least ? 0 : position
    guard resumption != .isDue, abs(place - stored) >= Self.least || place == 0 && stored > 0 else {
      return nil
    }
    stored = place
    return place
  }
}
