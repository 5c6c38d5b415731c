import BusKit
import PosixKit
import TestSupport
import Testing
import TransferEngine
import TransferProtocol
import Transfers

/// NetworkManager and batteries, as they change.
@Suite struct BackgroundWatchTests {
  private static let manager = manager(metered: 4)

  private static func manager(metered: Int) -> String {
    """
    network = mock('org.freedesktop.NetworkManager', '/org/freedesktop/NetworkManager',
      'org.freedesktop.NetworkManager', {'Metered': dbus.UInt32(\(metered))})
    """
  }

  /// The reports of a watch, in order. Each step is taken when its report has come.
  private func run(
    _ daemon: PrivateBus, _ steps: [(told: String, next: (BackgroundWatch) throws -> Void)]
  ) throws -> [String] {
    let loop = try EventLoop()
    let watch = BackgroundWatch(TransferSettings(), loop: loop, which: .at(daemon.address))
    var told: [String] = []
    var rest = steps[...]
    func hear(_ what: String) {
      told.append(what)
      guard let step = rest.first, step.told == what else { return }
      rest.removeFirst()
      do { try step.next(watch) } catch { Issue.record(error) }
      if rest.isEmpty { loop.stop() }
    }
    watch.restChanged = { hear($0.map { "\($0)" } ?? "running") }
    told.append(watch.rest.map { "\($0)" } ?? "running")
    loop.schedule(at: .after(patience)) { loop.stop() }
    loop.run()
    return told
  }

  private func setMetered(_ value: Int, _ daemon: PrivateBus) throws {
    try daemon.call(
      "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Mock",
      "UpdateProperties", "sa{sv}", "org.freedesktop.NetworkManager", "1", "Metered", "u", "\(value)")
  }

  @Test(.enabled(if: PrivateBus.isAvailable)) func aChangeOfTheNetworksCostIsHeard() throws {
    let daemon = try PrivateBus()
    let service = try daemon.play(Self.manager)
    let told = try run(
      daemon,
      [
        ("running", { _ in try setMetered(1, daemon) }), ("metered", { _ in try setMetered(2, daemon) }),
        ("running", { _ in try setMetered(3, daemon) }), ("metered", { _ in service.signal(9) }),
        ("running", { _ in }),
      ])
    #expect(told == ["asking", "running", "metered", "running", "metered", "running"])
  }

  @Test(.enabled(if: PrivateBus.isAvailable)) func aBusThatReturnsIsAskedAgain() throws {
    let daemon = try PrivateBus()
    let service = try daemon.play(Self.manager)
    var next: (bus: PrivateBus, service: RunningProcess)?
    let told = try run(
      daemon,
      [
        ("running", { _ in try setMetered(1, daemon) }), ("metered", { _ in daemon.end() }),
        // Nobody says that the network costs.
        (
          "running",
          { _ in
            let bus = try PrivateBus(at: daemon.address)
            next = (bus, try bus.play(Self.manager(metered: 3)))
          }
        ), ("metered", { _ in try next.map { try setMetered(2, $0.bus) } }), ("running", { _ in }),
      ])
    #expect(told == ["asking", "running", "metered", "running", "metered", "running"])
    withExtendedLifetime((service, next)) {}
  }

  @Test(.enabled(if: PrivateBus.isAvailable)) func withoutNetworkManagerAllNetworksAreFree() throws {
    #expect(try run(PrivateBus(), [("running", { _ in })]) == ["asking", "running"])
  }

  @Test func withoutABusNothingRests() throws {
    let watch = BackgroundWatch(
      TransferSettings(), loop: try EventLoop(), which: .at("unix:path=/nonexistent/bus"))
    #expect(watch.rest == nil)
  }

  @Test func batteriesCountWhereTheSettingsSaySo() throws {
    let folder = try TemporaryDirectory()
    try Directories.create(folder.path("BAT0"))
    for (name, value) in [("type", "Battery"), ("status", "Discharging"), ("capacity", "20")] {
      try Directories.replace(folder.path("BAT0/\(name)"), with: Array("\(value)\n".utf8))
    }
    let watch = BackgroundWatch(
      TransferSettings(), loop: try EventLoop(), which: .at("unix:path=/nonexistent/bus"),
      powerFolder: folder.path)
    #expect(watch.rest == nil)
    var settings = TransferSettings()
    settings.restsBelowCharge = 30
    watch.use(settings)
    #expect(watch.rest == .battery(below: 30))
    try Directories.replace(folder.path("BAT0/status"), with: Array("Charging\n".utf8))
    watch.use(settings)
    #expect(watch.rest == nil)
  }

  @Test func theHoursOfTheDayCount() throws {
    let minute = DailyHours.secondOfDay(wallClockSeconds()) / 60
    var settings = TransferSettings()
    settings.hours = DailyHours(start: (minute + 60) % 1440, end: (minute + 120) % 1440)
    let watch = BackgroundWatch(settings, loop: try EventLoop(), which: .at("unix:path=/nonexistent/bus"))
    #expect(watch.rest == settings.hours.map { .outside($0) })
    settings.hours = DailyHours(start: (minute + 1320) % 1440, end: (minute + 120) % 1440)
    watch.use(settings)
    #expect(watch.rest == nil)
  }
}
