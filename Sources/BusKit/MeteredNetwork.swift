internal import PosixKit

/// What NetworkManager says of the network.
package enum MeteredNetwork {
  package static let manager = "org.freedesktop.NetworkManager"
  package static let path = "/org/freedesktop/NetworkManager"

  /// Asks whether the network costs by what comes through it; false where nobody says so.
  /// - Parameter seconds: to wait for an answer.
  package static func ask(_ which: Bus.Which = .system, seconds: Double) -> Bool {
    guard let loop = try? EventLoop(), let bus = try? Bus(which, loop: loop, ended: loop.stop) else {
      return false
    }
    var isMetered = false
    bus.call(
      manager, path, "org.freedesktop.DBus.Properties", "Get", [.string(manager), .string("Metered")],
      seconds: seconds
    ) { answer in
      isMetered = Self.isMetered((try? answer.get())?.first)
      loop.stop()
    }
    loop.run()
    bus.close()
    return isMetered
  }

  /// NMMetered: 1 means yes, 3 a guess that says yes.
  package static func isMetered(_ value: BusValue?) -> Bool { [1, 3].contains(value?.integer ?? 0) }
}
