internal import PosixKit

/// Keeps a whole body. Used on the client's thread only: that makes it Sendable.
final class HTTPBodyCollector: HTTPResponseReceiver, @unchecked Sendable {
  private let completion: @Sendable (Result<HTTPResponse, HTTPError>) -> Void
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []

  init(_ completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void) {
    self.completion = completion
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    self.head = head
    return .proceed
  }

  func received(body piece: UnsafeRawBufferPointer) -> HTTPFlow {
    body.append(contentsOf: piece)
    return .proceed
  }

  func finished(_ error: HTTPError?) {
    if let error { return completion(.failure(error)) }
    guard let head else {
      return completion(.failure(HTTPError(.protocolError, "the server gave no answer", .EIO)))
    }
    completion(.success(HTTPResponse(head: head, body: body)))
  }
}
