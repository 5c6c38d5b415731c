import CLI
import Glibc
import PosixKit
import TestSupport
import Testing

/// Positions of media players, by MPRIS.
@Suite(.enabled(if: DesktopMount.isPossible, "this user cannot mount"), .serialized)
struct PlayersTests {
  private static let name = "org.mpris.MediaPlayer2.test"
  private static let interface = "org.mpris.MediaPlayer2.Player"

  /// A player that has a file open, as `busctl` can change it.
  private func player(_ bus: PrivateBus, _ address: String, status: String, position: Int) throws
    -> RunningProcess
  {
    try bus.play(
      """
      class Player(dbus.service.Object):
        values = {'PlaybackStatus': '\(status)', 'Position': dbus.Int64(\(position) * 1000000), 'Rate': 1.0,
          'Metadata': dbus.Dictionary({'mpris:trackid': dbus.ObjectPath('/track/1'), 'xesam:url': '\(address)',
            'mpris:length': dbus.Int64(18000000)}, signature='sv')}
        @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
        def Get(self, interface, name): return self.values[name]
        @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='s', out_signature='a{sv}')
        def GetAll(self, interface): return dbus.Dictionary(self.values, signature='sv')
        @dbus.service.signal('org.freedesktop.DBus.Properties', signature='sa{sv}as')
        def PropertiesChanged(self, interface, values, gone): pass
        @dbus.service.signal('org.mpris.MediaPlayer2.Player', signature='x')
        def Seeked(self, position): pass
        @dbus.service.method('org.mpris.MediaPlayer2.Player', in_signature='ox')
        def SetPosition(self, track, position):
          print('set|%s|%d' % (track, position), flush=True)
          self.values['Position'] = dbus.Int64(position)
        @dbus.service.method('org.example.Test', in_signature='sxs')
        def Be(self, status, position, address):
          self.values['Position'] = dbus.Int64(position)
          changed = {'PlaybackStatus': status} if status != self.values['PlaybackStatus'] else {}
          if address:
            self.values['Metadata']['xesam:url'] = address
            changed['Metadata'] = self.values['Metadata']
          self.values['PlaybackStatus'] = status
          if changed: self.PropertiesChanged('org.mpris.MediaPlayer2.Player', changed, [])
          else: self.Seeked(position)
      name = dbus.service.BusName('\(Self.name)', bus)
      player = Player(name, '/org/mpris/MediaPlayer2')
      """)
  }

  private func be(_ bus: PrivateBus, _ status: String, _ seconds: Int, _ address: String = "") throws {
    try bus.call(
      Self.name, "/org/mpris/MediaPlayer2", "org.example.Test", "Be", "sxs", status, "\(seconds * 1_000_000)",
      address)
  }

  private func address(_ path: String) -> String { "file://" + path.replacing(" ", with: "%20") }

  @Test func whatAPlayerSaysIsThePosition() throws {
    let mount = try DesktopMount(options: "min_free=0,played_margin=0")
    let (first, second) = (try mount.episodes[0], try mount.episodes[1])
    let watch = try Products.start("podcastfs", ["players"], in: mount.environment)
    let player = try player(mount.bus, address(first), status: "Playing", position: 3)
    #expect(eventually { mount.attribute("position", first)?.hasPrefix("3") == true })
    // A seek and a pause store the position at once.
    try be(mount.bus, "Playing", 10)
    #expect(eventually { mount.attribute("position", first)?.hasPrefix("10") == true })
    // Back at the start there is none.
    try be(mount.bus, "Paused", 0)
    #expect(eventually { mount.attribute("position", first) == nil })
    try be(mount.bus, "Paused", 8)
    #expect(eventually { mount.attribute("position", first) == "8" })
    // The next file of its list; the last one stays where it was.
    try be(mount.bus, "Playing", 7, address(second))
    #expect(eventually { mount.attribute("position", second)?.hasPrefix("7") == true })
    #expect(mount.attribute("position", first) == "8")
    player.signal(SIGKILL)
    watch.signal(SIGTERM)
    #expect(watch.wait() == .exit(0))
  }

  @Test func aPlayerGoesOnWhereTheEpisodeWasLeft() throws {
    let mount = try DesktopMount(options: "min_free=0,played_margin=0")
    let episode = try mount.episodes[0]
    try ExtendedAttributes.set("user.podcastfs.position", of: episode, to: "10")
    // It runs before the watch does.
    let player = try player(mount.bus, address(episode), status: "Playing", position: 0)
    let watch = try Products.start("podcastfs", ["players"], in: mount.environment)
    #expect(player.waitForOutput { $0.contains("set|/track/1|10000000") })
    #expect(mount.attribute("position", episode)?.hasPrefix("10") == true)
    withExtendedLifetime(watch) {}
  }

  @Test func otherFilesAreLeftAlone() throws {
    let mount = try DesktopMount(options: "min_free=0,played_margin=0")
    let file = mount.environment.home.path("song.mp3")
    try Directories.replace(file, with: [1, 2, 3])
    let watch = try Products.start("podcastfs", ["players"], in: mount.environment)
    let player = try player(mount.bus, address(file), status: "Playing", position: 12)
    try be(mount.bus, "Paused", 13)
    // The next one shows that the first has been seen.
    try be(mount.bus, "Playing", 9, address(try mount.episodes[0]))
    #expect(try eventually { try mount.attribute("position", mount.episodes[0])?.hasPrefix("9") == true })
    #expect(try ExtendedAttributes.get("user.podcastfs.position", of: file) == nil)
    withExtendedLifetime((watch, player)) {}
  }

  @Test func withoutASessionThereIsNothingToFollow() throws {
    let environment = try TestEnvironment()
    let result = try Products.run("podcastfs", ["players"], in: environment)
    #expect(result.end == .exit(1) && result.errors.contains("there is no desktop session: cannot connect"))
  }
}
