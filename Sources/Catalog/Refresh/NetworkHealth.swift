internal import Glibc
internal import HTTPKit
internal import PosixKit

/// Whether a host that cannot be reached is to blame, or the network: interfaces that are up (of containers, of
/// private networks) do not mean that the world can be reached.
package final class NetworkHealth: Sendable {
  /// Hosts that could not be reached, since any was.
  private let silent = Monitor<Set<String>>([])
  private let routes: (v4: String, v6: String)
  /// So many hosts do not fail at once by themselves.
  private static let manyHosts = 3

  init(routes: (v4: String, v6: String) = ("/proc/net/route", "/proc/net/ipv6_route")) {
    self.routes = routes
  }

  /// A host has answered, in whatever way.
  func reached(_ host: String) {
    if !PrivateHostName.isPrivate(host) { silent.withLock { $0.removeAll() } }
  }

  /// The network is another one: what failed before says nothing.
  func changed() { silent.withLock { $0.removeAll() } }

  /// - Returns: whether the failure is that of the network.
  func isAway(_ error: HTTPError) -> Bool {
    if error.code == .networkUnreachable { return true }
    guard let host = error.silentHost, !PrivateHostName.isPrivate(host),
      [.nameNotResolved, .timedOut].contains(error.code)
    else { return false }
    let count = silent.withLock { silent in
      if silent.count < 100 { silent.insert(host) }
      return silent.count
    }
    return count >= Self.manyHosts || !hasRoute
  }

  /// Whether any address of the world can be reached: there is a default route, or the two halves of one
  /// (proc_net(5)).
  var hasRoute: Bool {
    Self.hasRoute(v4: Self.text(routes.v4)) || Self.hasRoute(v6: Self.text(routes.v6))
  }

  package static func hasRoute(v4 table: String) -> Bool {
    table.split(separator: "\n").dropFirst().contains { line in
      let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
      guard fields.count >= 8, let flags = UInt32(fields[3], radix: 16),
        let mask = UInt32(fields[7], radix: 16)
      else { return false }
      let (isUp, isRejected) = (flags & 1 != 0, flags & 0x200 != 0)
      return isUp && !isRejected && mask.nonzeroBitCount <= 1
    }
  }

  package static func hasRoute(v6 table: String) -> Bool {
    table.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      guard fields.count >= 10, let length = UInt8(fields[1], radix: 16),
        let flags = UInt32(fields[8], radix: 16)
      else { return false }
      return length <= 3 && flags & 1 != 0 && flags & 0x200 == 0 && fields[9] != "lo"
    }
  }

  private static func text(_ path: String) -> String {
    String(decoding: (try? Directories.read(path, limit: 1 << 20)) ?? [], as: UTF8.self)
  }
}
