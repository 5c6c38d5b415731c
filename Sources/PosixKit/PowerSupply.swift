internal import CLinux
internal import Glibc

/// What the machine runs on: `/sys/class/power_supply` (Documentation/ABI/testing/sysfs-class-power of Linux).
package enum PowerSupply: Hashable, Sendable {
  case mains
  /// A battery discharges. Its charge in percent, where it reports one.
  case battery(charge: Int?)

  /// - Parameter folder: another one in tests.
  package static func current(in folder: String = usualFolder) -> PowerSupply {
    var (charges, isOnline, isDischarging) = ([Int](), false, false)
    for name in (try? Directories.names(in: folder)) ?? [] {
      func fact(_ file: String) -> String? {
        guard let bytes = try? Directories.read("\(folder)/\(name)/\(file)", limit: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
      }
      // Mice and headsets have batteries too.
      if fact("scope") == "Device" { continue }
      switch fact("type") {
      case "Battery":
        if fact("status") == "Discharging" { isDischarging = true }
        if let charge = fact("capacity").flatMap({ Int($0) }) { charges.append(charge) }
      case "Mains", "USB", "Wireless": if fact("online") == "1" { isOnline = true }
      default: break
      }
    }
    if isOnline || !isDischarging { return .mains }
    return .battery(charge: charges.isEmpty ? nil : charges.reduce(0, +) / charges.count)
  }

  package static let usualFolder = "/sys/class/power_supply"
}

/// Hears of power supplies that change.
package final class PowerWatch {
  private let socket: FileDescriptor

  package init() throws(PosixError) {
    socket = FileDescriptor(owning: try retrying("watch devices") { podcastfs_power_events() })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { socket.rawValue }

  /// Takes all news so far.
  package func drain() { socket.drain() }
}
