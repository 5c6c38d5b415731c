import PosixKit
import TestSupport
import Testing

/// Notifications of the built programs, at a service that prints each call.
@Suite(.enabled(if: DesktopMount.isPossible, "this user cannot mount"), .serialized)
struct NotificationTests {
  private static let service = """
    class Service(dbus.service.Object):
      last = 0
      @dbus.service.method('org.freedesktop.Notifications', in_signature='susssasa{sv}i', out_signature='u')
      def Notify(self, app, replaced, icon, summary, body, actions, hints, timeout):
        self.last += 0 if replaced else 1
        words = ['notify', str(replaced or self.last), 'replaces' if replaced else 'new', summary,
          body.replace(chr(10), '/'), ','.join(actions[::2]), str(hints.get('value', '-')),
          str(hints.get('image-path', icon))]
        print('|'.join(words), flush=True)
        return replaced or self.last
      @dbus.service.method('org.freedesktop.Notifications', in_signature='u')
      def CloseNotification(self, number):
        print('close|%d' % number, flush=True)
        self.NotificationClosed(number, 3)
      @dbus.service.signal('org.freedesktop.Notifications', signature='uu')
      def NotificationClosed(self, number, reason): pass
      @dbus.service.signal('org.freedesktop.Notifications', signature='us')
      def ActionInvoked(self, number, key): pass
      @dbus.service.method('org.freedesktop.Notifications', in_signature='us')
      def Press(self, number, key):
        self.ActionInvoked(number, key)
        self.NotificationClosed(number, 2)
    name = dbus.service.BusName('org.freedesktop.Notifications', bus)
    service = Service(name, '/org/freedesktop/Notifications')
    """

  /// Of each notification its number, whether it is new, summary, body, keys of buttons, progress and picture.
  private func lines(_ service: RunningProcess, _ kind: String) -> [[String]] {
    service.output.split(separator: "\n").map {
      $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
    .filter { $0.first == kind }
  }

  @Test func aCompleteEpisodeCanBePlayedAndShown() throws {
    let mount = try DesktopMount()
    let service = try mount.bus.play(Self.service)
    let episode = try #require(try mount.episodes.first)
    #expect(try mount.run("get", episode).end == .exit(0))
    #expect(eventually { !lines(service, "notify").isEmpty })
    let told = try #require(lines(service, "notify").first)
    let title = try #require(mount.attribute("title", episode))
    #expect(told.dropFirst(3).prefix(4) == [title, "Harbour Lights", "play,show,default", "-"])
    try mount.bus.call(
      "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
      "Press",
      "us", told[1], "play")
    #expect(eventually { mount.opened.contains("/mount/Downloaded/Harbour Lights/") })
    #expect(mount.opened.contains(episode.split(separator: "/").last ?? "?"))

    #expect(try mount.run("get", try mount.episodes[1]).end == .exit(0))
    #expect(eventually { lines(service, "notify").count > 1 })
    try mount.bus.call(
      "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
      "Press",
      "us", try #require(lines(service, "notify").last)[1], "show")
    #expect(eventually { mount.opened.contains("/mount/Downloaded/Harbour Lights\n") })
  }

  @Test func oneNotificationShowsTheProgressAndIsReplaced() throws {
    // Some ten seconds each.
    let mount = try DesktopMount(rate: 9000)
    let service = try mount.bus.play(Self.service)
    #expect(try mount.run("get", mount.show).end == .exit(0))
    #expect(
      eventually { lines(service, "notify").contains { $0[3] == "4 episodes of Harbour Lights downloaded" } })
    let told = lines(service, "notify")
    let steps = told.compactMap { Int($0[6]) }
    #expect(steps.count > 1 && steps == steps.sorted(), "\(service.output)")
    #expect(told.filter { $0[2] == "new" }.count == 1, "\(service.output)")
    #expect(Set(told.map { $0[1] }).count == 1)
    #expect(told.contains { $0[3].hasPrefix("Downloading ") && $0[3].hasSuffix(" episodes") })
  }

  @Test func whatThePersonHasEndedIsNoLongerShown() throws {
    let mount = try DesktopMount(rate: 3000)
    let service = try mount.bus.play(Self.service)
    let episode = try #require(try mount.episodes.first)
    try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
    #expect(eventually { !lines(service, "notify").isEmpty })
    #expect(try mount.run("cancel", episode).end == .exit(0))
    #expect(eventually { !lines(service, "close").isEmpty })
  }

  @Test func withoutAServiceTheLogSaysSoAndDownloadsGoOn() throws {
    let mount = try DesktopMount()
    #expect(try mount.run("get", mount.show).end == .exit(0))
    #expect(
      try eventually {
        let log = try Directories.read(mount.environment.home.path("state/podcastfs/podcastfs.log"))
        return String(decoding: log, as: UTF8.self).contains("cannot show a notification: ")
      })
  }
}
