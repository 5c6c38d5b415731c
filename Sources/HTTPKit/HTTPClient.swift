internal import PosixKit

/// Asks http and https servers, many at once, by libcurl on one thread of its own. The thread sleeps while
/// nothing is under way. Connections are kept for further requests; each transfer has one of its own, so that
/// one that is paused, slow or dead holds up no other.
package final class HTTPClient: Sendable {
  private let loop: HTTPLoop

  /// - Parameter name: the thread's, at most 15 bytes.
  package init(name: String = "http") {
    loop = HTTPLoop()
    let loop = loop
    PosixThread.start(name) { loop.run() }
  }

  deinit { loop.stop() }

  /// Begins a request; `receiver` hears what comes of it on the client's thread, and its end exactly once.
  @discardableResult
  package func start(_ request: HTTPRequest, receiver: any HTTPResponseReceiver) -> HTTPTask {
    let task = HTTPTask(loop: loop)
    loop.submit(.start(task.id, request, receiver))
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
  package func stop() { loop.stop() }
}
