internal import HTTPKit
internal import PosixKit

/// Whether a host that cannot be reached is to blame, or the network. Interfaces that are up (of containers, of private
/// networks) do not mean that the internet can be reached.
final class NetworkHealth: Sendable {
  /// Hosts that could not be reached, since any was.
  private let silent = Monitor<Set<String>>([])
  /// So many hosts do not fail at once by themselves.
  private static let manyHosts = 3

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
      if silent.count < Self.manyHosts { silent.insert(host) }
      return silent.count
    }
    return count >= Self.manyHosts || !NetworkState.hasDefaultRoute
  }
}
