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
  package func byServer(_ time: Int64) -> Int64 { servers - max(ours - time, 0) }

  /// The other way round. A time that nobody knows is now.
  package func byUs(_ time: Int64) -> Int64 { time > 0 ? ours - max(servers - time, 0) : ours }

  /// The latest time that another device may report: the clocks of some are ahead.
  package var latest: Int64 { servers + 366 * 86_400 }

  /// A time that another device reports; 0 where it cannot be true. Such a report is older than all others: otherwise
  /// nothing later could ever take its place.
  package func credible(_ time: Int64) -> Int64 { (0...latest).contains(time) ? time : 0 }
}
