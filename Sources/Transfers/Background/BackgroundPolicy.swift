package import PosixKit
package import TransferEngine
package import TransferProtocol

/// What background downloads depend on, besides room and hosts.
package struct BackgroundConditions: Hashable, Sendable {
  package enum Network: Hashable, Sendable {
    /// NetworkManager has not answered yet.
    case asking
    case free
    case metered
  }

  package var network = Network.free
  package var power = PowerSupply.mains
  package var isSuspending = false
  /// The second of the day by the local clock.
  package var second = 0

  package init() {}

  /// Whether background downloads may run: nil, or why they rest.
  package func rest(by settings: TransferSettings) -> BackgroundRest? {
    if isSuspending { return .suspending }
    if settings.isPaused { return .paused }
    if let hours = settings.hours, !hours.contains(second / 60) { return .outside(hours) }
    if case .battery(let charge) = power {
      let least = settings.restsBelowCharge
      if least > 100 { return .battery(below: nil) }
      // A battery without a known charge may be nearly empty.
      if least > 0, charge ?? 0 < least { return .battery(below: Int(least)) }
    }
    if settings.restsOnMetered {
      switch network {
      case .asking: return .asking
      case .metered: return .metered
      case .free: break
      }
    }
    return nil
  }
}
