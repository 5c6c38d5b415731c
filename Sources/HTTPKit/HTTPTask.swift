internal import PosixKit
internal import Synchronization

/// A request under way. Each call returns at once and takes effect on the client's thread; after the end it
/// has none.
package final class HTTPTask: Cancellable {
  private static let lastID = Atomic<UInt64>(0)

  let id: UInt64
  private let worker: HTTPWorker

  init(worker: HTTPWorker) {
    id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    self.worker = worker
  }

  /// Ends it: the receiver hears `finished` with `.cancelled`, unless it has heard its end already.
  package func cancel() {
    let id = id
    worker.perform { $0.cancel(id) }
  }

  /// Goes on after `HTTPFlow.pause`: the piece that was refused comes again.
  package func resume() {
    let id = id
    worker.perform { $0.resume(id) }
  }
}
