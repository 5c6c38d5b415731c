internal import CLinux
internal import Glibc

/// Watches addresses and routes (rtnetlink(7)).
package final class NetworkWatch {
  private let socket: FileDescriptor

  /// - Parameter state: the known state; a difference from it counts as a change from the beginning on.
  package init(since state: NetworkState = .current) throws(PosixError) {
    last = state
    socket = FileDescriptor(owning: try retrying("watch the network") { podcastfs_network_events() })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { socket.rawValue }

  /// Takes all news so far.
  /// - Returns: whether the routes or addresses that lead to other machines have changed. Bridges and pairs of containers,
  ///   which come and go all day, do not count.
  package func hasChanged() -> Bool {
    socket.drain()
    let now = NetworkState.current
    defer { last = now }
    return now != last
  }

  private var last: NetworkState
}

extension FileDescriptor {
  /// Takes all messages from a socket.
  func drain() {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
      while recv(rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
  }
}

/// By what this machine reaches others: its default routes, and the addresses of its interfaces but for those that
/// only join others on this machine (bridges, their members, and pairs, as containers have them).
package struct NetworkState: Hashable, Sendable {
  private var facts: Set<String> = []

  package static var current: NetworkState {
    let routes = defaultRoutes
    var state = NetworkState(facts: Set(routes.map { "\($0.interface) \($0.route)" }))
    let gateways = Set(routes.map(\.interface))
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return state }
    defer { freeifaddrs(first) }
    var next = first
    while let entry = next {
      next = entry.pointee.ifa_next
      let name = String(cString: entry.pointee.ifa_name)
      guard let address = entry.pointee.ifa_addr, entry.pointee.ifa_flags & UInt32(IFF_UP) != 0,
        gateways.contains(name) || !isInternal(name), let text = text(of: address)
      else { continue }
      state.facts.insert("\(name) \(text)")
    }
    return state
  }

  /// Whether no other machine can be reached.
  package var isEmpty: Bool { facts.allSatisfy { $0.hasPrefix("lo ") } }

  /// Whether any address of the world can be reached.
  package static var hasDefaultRoute: Bool { !defaultRoutes.isEmpty }

  private static func text(of address: UnsafePointer<sockaddr>) -> String? {
    let family = Int32(address.pointee.sa_family)
    guard family == AF_INET || family == AF_INET6 else { return nil }
    let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(address, socklen_t(size), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
    else { return nil }
    return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// A bridge, a member of one, or one end of a pair.
  private static func isInternal(_ name: String) -> Bool {
    let path = "/sys/class/net/\(name)"
    if access(path + "/bridge", F_OK) == 0 || access(path + "/master", F_OK) == 0 { return true }
    return number(path + "/iflink") != number(path + "/ifindex")
  }

  private static func number(_ path: String) -> Int? {
    guard let bytes = try? Directories.read(path, limit: 64) else { return nil }
    return Int(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }

  /// Interfaces with a route to everywhere, and what it is (proc(5)).
  private static var defaultRoutes: [(interface: String, route: String)] {
    let four = lines("/proc/net/route").filter { $0.count > 7 && $0[1] == "00000000" && $0[7] == "00000000" }
    let zero = String(repeating: "0", count: 32)
    let six = lines("/proc/net/ipv6_route").filter {
      $0.count > 9 && $0[0] == zero && $0[1] == "00" && $0[9] != "lo"
    }
    return four.map { ($0[0], $0[2]) } + six.map { ($0[9], $0[4]) }
  }

  private static func lines(_ path: String) -> [[String]] {
    guard let bytes = try? Directories.read(path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
      line.split { $0 == " " || $0 == "\t" }.map { String($0) }
    }
  }
}
