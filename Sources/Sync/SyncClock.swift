/// Our clock and the server's, as they were when the server answered. Ours may be wrong, and another one is by another
/// amount: what devices compare is by the server's.
package struct SyncClock: Hashable, Sendable {
  /// In seconds since 1970.
  package var ours: Int64
  package var servers: Int64

  package init(ours: Int64, servers: Int64) {
    self.ours = ours
    self.servers = servers
  }

  /// A time by our clock as the server's clock would have had it; never in its future.
  package func byServer(_ time: Int64) -> Int64 { min(time + servers - ours, servers) }

  /// The other way round.
  package func byUs(_ time: Int64) -> Int64 { min(time + ours - servers, ours) }
}
