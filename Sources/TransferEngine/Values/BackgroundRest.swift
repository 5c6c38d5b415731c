package import PosixKit

package enum BackgroundRest: Hashable, Sendable {
  /// It is not known yet what the network costs; that takes milliseconds.
  case asking
  case paused
  case metered
  /// The charge in percent below which they rest; nil for any.
  case battery(below: Int?)
  case outside(DailyHours)

  /// For people; nil where it is over before anybody reads it.
  package var message: String? {
    switch self {
    case .asking: nil
    case .paused: "all background downloads are paused"
    case .metered: "waiting for an unmetered network"
    case .battery(nil): "waiting for mains power"
    case .battery(let charge?): "waiting for mains power: the battery is below \(charge) %"
    case .outside(let hours): "waiting for \(hours.startText) (downloads run \(hours.text))"
    }
  }
}
