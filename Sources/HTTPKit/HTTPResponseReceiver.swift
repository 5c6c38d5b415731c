/// Hears what comes of a request, on the client's thread, in this order: one head, bodies, one end.
/// It must not wait for anything but the disk.
package protocol HTTPResponseReceiver: AnyObject, Sendable {
  /// The final response's head, also of 4xx and 5xx; `.abort` ends the request as cancelled.
  func received(head: HTTPResponseHead) -> HTTPFlow
  /// A piece of the body. `.pause` keeps this piece undelivered until `HTTPTask.resume()`.
  func received(body: UnsafeRawBufferPointer) -> HTTPFlow
  /// The end: nil where the whole body came.
  func finished(_ error: HTTPError?)
}

package enum HTTPFlow: Sendable {
  case proceed, pause, abort
}
