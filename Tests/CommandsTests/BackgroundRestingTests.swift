import Glibc
import PosixKit
import TestSupport
import Testing

/// Metered networks and the hours of the day, with the built programs.
@Suite(.enabled(if: DesktopMount.isPossible, "this user cannot mount"), .serialized)
struct BackgroundRestingTests {
  private func manager(_ bus: PrivateBus, metered: Int) throws -> RunningProcess {
    try bus.play(
      """
      network = mock('org.freedesktop.NetworkManager', '/org/freedesktop/NetworkManager',
        'org.freedesktop.NetworkManager', {'Metered': dbus.UInt32(\(metered))})
      """)
  }

  private func setMetered(_ value: Int, _ bus: PrivateBus) throws {
    try bus.call(
      "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Mock",
      "UpdateProperties", "sa{sv}", "org.freedesktop.NetworkManager", "1", "Metered", "u", "\(value)")
  }

  @Test func aNetworkThatBecomesMeteredAmidADownloadHasItWait() throws {
    let mount = try DesktopMount(rate: 12_000) { try manager($0, metered: 2) }
    let episode = try mount.episodes[0]
    try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
    #expect(eventually { mount.attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > 0 })
    try setMetered(1, mount.bus)
    #expect(eventually { mount.attribute("state", episode) == "queued" })
    #expect(mount.attribute("error", episode) == "waiting for an unmetered network")
    #expect(try mount.run("status").output.contains("waiting for an unmetered network"))
    // Who opens it gets it.
    let received = mount.attribute("bytes_received", episode).flatMap { Int64($0) } ?? 0
    let file = try FileDescriptor(opening: episode, O_RDONLY)
    var byte: UInt8 = 0
    #expect(pread(file.rawValue, &byte, 1, off_t(received + 8192)) == 1)
    try setMetered(4, mount.bus)
    #expect(eventually { mount.attribute("state", episode) == "cached" })
    #expect(mount.attribute("error", episode) == nil)
  }

  @Test func whatIsOrderedOnAMeteredNetworkAsksNoHost() throws {
    let mount = try DesktopMount { try manager($0, metered: 3) }
    let episode = try mount.episodes[0]
    try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
    #expect(eventually { mount.attribute("error", episode) == "waiting for an unmetered network" })
    #expect(mount.attribute("bytes_received", episode) == "0")
    #expect(
      mount.attribute("size_source", episode) != "exact" || mount.attribute("state", episode) == "queued")
  }

  @Test(.enabled(if: FakeClock.isAvailable)) func downloadsBeginWithTheHourThatIsSet() throws {
    let clock = try FakeClock()
    // Five seconds before a full minute.
    try clock.set(ahead: 55 - wallClockSeconds() % 60)
    let minute = DailyHours.secondOfDay(wallClockSeconds()) / 60 + 1
    let hours = DailyHours(start: minute % 1440, end: (minute + 120) % 1440)
    let mount = try DesktopMount(
      options: "min_free=0,download_hours=\(hours.text)", variables: clock.variables)
    let episode = try mount.episodes[0]
    try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
    #expect(
      ["waiting for \(hours.startText) (downloads run \(hours.text))", nil]
        .contains(mount.attribute("error", episode)))
    #expect(eventually { mount.attribute("state", episode) == "cached" })
  }
}
