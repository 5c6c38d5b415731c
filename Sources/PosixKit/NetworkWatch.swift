internal import CLinux
internal import Glibc

/// Hears of addresses and routes that come and go (rtnetlink(7)).
package final class NetworkWatch {
  private let socket: FileDescriptor

  /// - Parameter state: what counts as known; what has changed since is a change, also before this hears of any.
  package init(since state: NetworkState = .current) throws(PosixError) {
    last = state
    socket = FileDescriptor(owning: try retrying("watch the network") { podcastfs_network_events() })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { socket.rawValue }

  /// Takes all news so far.
  /// - Returns: whether what this machine reaches others by has changed: bridges and pairs for containers come and
  ///   go all day.
  package func hasChanged() -> Bool {
    drain()
    let now = NetworkState.current
    defer { last = now }
    return now != last
  }

  private var last: NetworkState

  private func drain() {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
      while recv(socket.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
  }
}
