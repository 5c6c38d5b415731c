import PosixKit
import Testing
import TransferEngine
import TransferProtocol
import Transfers

@Suite struct BackgroundPolicyTests {
  private static let night = DailyHours(start: 22 * 60, end: 6 * 60)

  private struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var rest: BackgroundRest?
    var onMetered = true
    var charge: Int64 = 0
    var hours: DailyHours?
    var network: BackgroundRest?
    var power = PowerSupply.mains
    var hour = 12
    var isPaused = false

    init(_ what: String, _ rest: BackgroundRest?, _ change: (inout Case) -> Void = { _ in }) {
      (testDescription, self.rest) = (what, rest)
      change(&self)
    }
  }

  private static let cases: [Case] = [
    Case("nothing is in the way", nil),
    Case("the user wants it", .paused) { $0.isPaused = true },
    Case("a metered network", .metered) { $0.network = .metered },
    Case("a metered network that may be used", nil) { ($0.network, $0.onMetered) = (.metered, false) },
    Case("an unknown network", .asking) { $0.network = .asking },
    Case("an unknown network whose cost does not matter", nil) {
      ($0.network, $0.onMetered) = (.asking, false)
    },
    Case("on battery, and it does not matter", nil) { $0.power = .battery(charge: 3) },
    Case("on battery", .battery(below: nil)) { ($0.power, $0.charge) = (.battery(charge: 100), 101) },
    Case("full enough", nil) { ($0.power, $0.charge) = (.battery(charge: 30), 30) },
    Case("not full enough", .battery(below: 30)) { ($0.power, $0.charge) = (.battery(charge: 29), 30) },
    Case("a battery that tells no charge", .battery(below: 30)) {
      ($0.power, $0.charge) = (.battery(charge: nil), 30)
    },
    Case("on mains with an empty battery", nil) { $0.charge = 30 },
    Case("outside the hours", .outside(night)) { $0.hours = night },
    Case("within the hours", nil) { ($0.hours, $0.hour) = (night, 23) },
    Case("within the hours of the morning", nil) { ($0.hours, $0.hour) = (night, 5) },
    Case("at the end of the hours", .outside(night)) { ($0.hours, $0.hour) = (night, 6) },
    Case("within the hours, on a metered network", .metered) {
      ($0.hours, $0.hour, $0.network) = (night, 23, .metered)
    },
  ]

  @Test(arguments: cases) private func backgroundDownloadsRestWhere(_ row: Case) {
    var settings = TransferSettings()
    (settings.restsOnMetered, settings.restsBelowCharge, settings.hours) = (
      row.onMetered, row.charge, row.hours
    )
    settings.isPaused = row.isPaused
    var conditions = BackgroundConditions()
    (conditions.network, conditions.power) = (row.network, row.power)
    conditions.second = row.hour * 3600
    #expect(conditions.rest(by: settings) == row.rest)
  }
}
