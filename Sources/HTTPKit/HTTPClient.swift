internal import PosixKit

/// Asks http and https servers by an `HTTPSession` on one thread of its own, which sleeps while nothing is under
/// way.
package final class HTTPClient: Sendable {
  private let worker: HTTPWorker

  /// - Parameter name: the thread's, at most 15 bytes.
  package init(name: String = "http") {
    worker = HTTPWorker()
    let worker = worker
    PosixThread.start(name) { worker.run() }
  }

  deinit { worker.stop() }

  /// Begins a request; `receiver` hears what comes of it on the client's thread, and its end exactly once.
  @discardableResult
  package func start(_ request: HTTPRequest, receiver: any HTTPResponseReceiver) -> HTTPTask {
    let task = HTTPTask(worker: worker)
    let isTaken = worker.perform { $0.start(task.id, request, receiver) }
    // The thread has ended; a thread of its own keeps the promise that no caller is called back.
    if !isTaken { PosixThread.start("http-end") { receiver.finished(.cancelled) } }
    return task
  }

  /// Fetches a whole body; `completion` is called once, on the client's thread. Set `maximumBody`.
  @discardableResult
  package func fetch(
    _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
  ) -> HTTPTask {
    start(request, receiver: HTTPBodyCollector(completion))
  }

  /// Ends what is under way as cancelled, and the thread. Requests begun afterwards end as cancelled.
  package func stop() { worker.stop() }
}
