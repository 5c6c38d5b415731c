internal import Synchronization

/// A request under way. Each call returns at once and takes effect on the client's thread; after the end it
/// has none.
package final class HTTPTask: Sendable {
  private static let lastID = Atomic<UInt64>(0)

  let id: UInt64
  private let loop: HTTPLoop

  init(loop: HTTPLoop) {
    id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    self.loop = loop
  }

  /// Ends it: the receiver hears `finished` with `.cancelled`, unless it has heard its end already.
  package func cancel() { loop.submit(.cancel(id)) }

  /// Goes on after `HTTPFlow.pause`: the piece that was refused comes again.
  package func resume() { loop.submit(.resume(id)) }

  /// Bytes per second at most from now on; nil for no bound.
  package func setRateLimit(_ limit: Int64?) { loop.submit(.limit(id, limit)) }
}
