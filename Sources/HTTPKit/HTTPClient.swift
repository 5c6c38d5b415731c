internal import PosixKit

/// Asks http and https servers by an `HTTPSession` on a thread of its own, which sleeps while nothing is under way.
package final class HTTPClient: Sendable {
  private let loop: EventLoop
  private let session: HTTPSession

  /// - Parameter name: the thread's, at most 15 bytes.
  package init(name: String = "http") {
    do throws(PosixError) {
      loop = try EventLoop()
    } catch {
      // Only where the system has no descriptor left.
      preconditionFailure("\(error)")
    }
    session = HTTPSession(loop: loop)
    PosixThread.start(name) { [loop, session] in
      HTTPSession.blockBrokenPipeSignal()
      loop.run()
      session.stop()
    }
  }

  deinit { stop() }

  /// Begins a request; `receiver` hears what comes of it on the client's thread, and its end exactly once.
  @discardableResult
  package func start(_ request: HTTPRequest, receiver: any HTTPResponseReceiver) -> HTTPTask {
    let task = HTTPTask(loop, session)
    let isTaken = loop.async { [session] in session.start(request, receiver: receiver, as: task.id) }
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

  /// Ends the thread, and as cancelled what is under way or begun afterwards.
  package func stop() {
    loop.async { [session] in session.stop() }
    loop.stop()
  }
}

package final class HTTPTask: Cancellable {
  fileprivate let id = HTTPSession.TaskID()
  private let loop: EventLoop
  private let session: HTTPSession

  fileprivate init(_ loop: EventLoop, _ session: HTTPSession) { (self.loop, self.session) = (loop, session) }

  /// Returns at once. The receiver hears `finished` with `.cancelled`, unless it has heard its end already.
  package func cancel() { loop.async { [id, session] in session.cancel(id) } }
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
