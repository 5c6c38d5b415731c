internal import PosixKit

/// Asks http and https servers by an `HTTPSession` on a thread of its own, which sleeps while nothing is under way.
package final class HTTPClient: Sendable {
  /// The session is used on the loop's thread only: that makes it Sendable.
  fileprivate struct Worker: @unchecked Sendable {
    let loop: EventLoop
    let session: HTTPSession

    /// - Returns: false where the thread has ended.
    @discardableResult
    func perform(_ body: @escaping @Sendable (HTTPSession) -> Void) -> Bool {
      loop.async { body(session) }
    }
  }
  private let worker: Worker

  /// - Parameter name: the thread's, at most 15 bytes.
  package init(name: String = "http") {
    do throws(PosixError) {
      let loop = try EventLoop()
      worker = Worker(loop: loop, session: HTTPSession(loop: loop))
    } catch {
      // Only where the system has no descriptor left.
      preconditionFailure("\(error)")
    }
    let worker = worker
    PosixThread.start(name) {
      HTTPSession.blockBrokenPipeSignal()
      worker.loop.run()
      worker.session.stop()
    }
  }

  deinit { stop() }

  /// Begins a request; `receiver` hears what comes of it on the client's thread, and its end exactly once.
  @discardableResult
  package func start(_ request: HTTPRequest, receiver: any HTTPResponseReceiver) -> HTTPTask {
    let task = HTTPTask(worker: worker)
    let isTaken = worker.perform { $0.start(request, receiver: receiver, as: task.id) }
    // The thread has ended; a thread of its own keeps the promise that no caller is called back.
    if !isTaken { PosixThread.start("http-end") { receiver.finished(.cancelled) } }
    return task
  }

  /// Fetches a whole body; `completion` is called once, on the client's thread. Set `maximumBody`.
  @discardableResult
  package func fetch(
    _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
  ) -> HTTPTask {
    start(request, receiver: BodyCollector(completion))
  }

  /// Ends what is under way as cancelled, and the thread. Requests begun afterwards end as cancelled.
  package func stop() {
    worker.perform { $0.stop() }
    worker.loop.stop()
  }
}

package final class HTTPTask: Cancellable {
  fileprivate let id = HTTPSession.TaskID()
  private let worker: HTTPClient.Worker

  fileprivate init(worker: HTTPClient.Worker) { self.worker = worker }

  /// Returns at once. The receiver hears `finished` with `.cancelled`, unless it has heard its end already.
  package func cancel() { worker.perform { [id] in $0.cancel(id) } }
}

/// Keeps a whole body. Used on the client's thread only: that makes it Sendable.
private final class BodyCollector: HTTPResponseReceiver, @unchecked Sendable {
  private let completion: @Sendable (Result<HTTPResponse, HTTPError>) -> Void
  private var response: HTTPResponse?

  init(_ completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void) {
    self.completion = completion
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    response = HTTPResponse(head: head, body: [])
    return .proceed
  }

  func received(body piece: UnsafeRawBufferPointer) -> HTTPFlow {
    response?.body.append(contentsOf: piece)
    return .proceed
  }

  func finished(_ error: HTTPError?) {
    // A status of failure is the answer, however its page ends.
    if let response, error == nil || response.head.status >= 400 && error?.code != .cancelled {
      return completion(.success(response))
    }
    completion(.failure(error ?? HTTPError(.protocolError, "the server gave no answer", .EIO)))
  }
}
