import Glibc
import PosixKit
import TestSupport
import Testing

/// The commands behind the menus of file managers, with the paths of files.
@Suite(.enabled(if: DesktopMount.isPossible, "this user cannot mount"), .serialized)
struct MenuCommandTests {
  @Test func `Episodes are marked as played and kept, several at once`() throws {
    let mount = try DesktopMount()
    let episodes = try mount.episodes
    #expect(try mount.run("mark", "played", episodes[0], episodes[1]).end == .exit(0))
    #expect(episodes.map { mount.attribute("played", $0) } == ["1", "1", "0", "0"])
    #expect(try mount.run("mark", "unplayed", mount.show).end == .exit(0))
    #expect(episodes.map { mount.attribute("played", $0) } == ["0", "0", "0", "0"])
    #expect(try mount.run("mark", "kept", "--", episodes[3]).end == .exit(0))
    #expect(mount.attribute("keep", episodes[3]) == "1")
    #expect(try mount.run("mark", "unkept", episodes[3]).end == .exit(0))
    #expect(mount.attribute("keep", episodes[3]) == "0")
    #expect(try mount.run("mark", "loved", episodes[3]).end == .exit(64))
    let wrong = try mount.run("mark", "played", "/etc/passwd", episodes[2])
    #expect(wrong.end == .exit(1) && wrong.errors.contains("/etc/passwd: not an episode"), "\(wrong.errors)")
    #expect(mount.attribute("played", episodes[2]) == "1")
  }

  @Test func `The folder of a podcast found can be followed`() throws {
    let mount = try DesktopMount()
    let show = mount.show
    let info = try mount.run("info", show)
    #expect(info.output.contains("not followed, 4 episodes"), "\(info)")
    let followed = mount.root + "/Subscriptions/Harbour Lights"
    for folder in [show, followed] {
      let result = try mount.run("subscribe", folder)
      #expect(result.end == .exit(0) && result.output == "Harbour Lights\n", "\(result)")
      // The folder moves.
      #expect(eventually { Directories.exists(followed) && !Directories.exists(show) })
    }
    for command in ["subscribe", "refresh"] {
      let errors = try mount.run(command, show).errors
      #expect(errors.contains("\(show): No such file or directory"), "\(errors)")
    }
    #expect(try mount.run("list", "--names").output == "Harbour Lights\n")
    // Fetched under the name that the path means.
    let refresh = try mount.run("refresh", followed)
    #expect(refresh.output.hasPrefix("Harbour Lights: "), "\(refresh)")
  }

  @Test func `Information opens in the desktop's program for texts, and errors are notified`() throws {
    let mount = try DesktopMount()
    let service = try mount.bus.play(
      """
      class Service(dbus.service.Object):
        @dbus.service.method('org.freedesktop.Notifications', in_signature='susssasa{sv}i', out_signature='u')
        def Notify(self, app, replaced, icon, summary, body, actions, hints, timeout):
          print('%s|%s' % (summary, body), flush=True)
          return 1
      name = dbus.service.BusName('org.freedesktop.Notifications', bus)
      service = Service(name, '/org/freedesktop/Notifications')
      """)
    let episodes = try mount.episodes
    #expect(try mount.run("info", "--window", episodes[0], episodes[1]).end == .exit(0))
    let text = String(decoding: try Directories.read(String(mount.opened.dropLast())), as: UTF8.self)
    #expect(text.contains("A quiet harbour\n") && text.contains("Fog on the breakwater\n"), "\(text)")
    let failed = try mount.run("mark", "--notify", "played", "/etc/passwd")
    #expect(failed.end == .exit(1))
    #expect(service.waitForOutput { $0.contains("podcastfs|/etc/passwd: not an episode") })
  }

  @Test func `Orders that are not waited for are counted`() throws {
    let mount = try DesktopMount(rate: 20_000)
    let episodes = try mount.episodes
    #expect(try mount.run("get", "--quiet", episodes[0]).end == .exit(0))
    let order = try mount.run("get", "--queue", mount.show)
    #expect(order.end == .exit(0) && order.output.hasPrefix("1 of 4 episodes downloaded, "), "\(order)")
  }
}
