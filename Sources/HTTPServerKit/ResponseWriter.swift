internal import Glibc
internal import PosixKit

/// Writes the answer to one request, on the connection's own thread: calls wait for the client.
package final class ResponseWriter {
  /// The client has gone, the server stops, or the connection was cut: the handler is to return.
  package struct Ended: Error {}

  private let socket: Int32
  private let stop: WakeupEvent
  private let request: ServerRequest
  private var left: Int64?
  private var isChunked = false
  private(set) var hasHead = false
  /// Whether the connection can serve another request afterwards.
  private(set) var keepsConnection: Bool

  /// Bytes per second at most; nil for no bound.
  package var rate: Int64?
  /// Hears of the status that is sent.
  package var onBegin: ((Int) -> Void)?
  /// Hears of each piece of a body that was sent, in bytes.
  package var onSent: ((Int) -> Void)?

  /// Seconds that a client may take none of what is sent.
  static let patience = 300.0

  init(socket: Int32, stop: WakeupEvent, request: ServerRequest) {
    self.socket = socket
    self.stop = stop
    self.request = request
    let wish = request.header("connection")?.lowercased()
    keepsConnection = request.isHTTP11 ? wish != "close" : wish == "keep-alive"
  }

  /// Whether only the head is asked for.
  package var isHead: Bool { request.method == "HEAD" }

  /// Sends the head.
  /// - Parameter length: the body's, in bytes; nil sends chunks, or to an HTTP/1.0 client until the close.
  package func begin(
    _ status: Int, _ headers: [(name: String, value: String)] = [], length: Int64?
  ) throws(Ended) {
    var head = "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    left = length
    if let length {
      if status != 304 { head += "Content-Length: \(length)\r\n" }
    } else if request.isHTTP11 && keepsConnection {
      isChunked = true
      head += "Transfer-Encoding: chunked\r\n"
    } else {
      keepsConnection = false
    }
    head += keepsConnection ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n"
    hasHead = true
    onBegin?(status)
    try send(Array(head.utf8))
  }

  /// Sends a part of the body, at `rate`. What is beyond the length is left out, and all of it for HEAD.
  package func write(_ bytes: some Collection<UInt8>) throws(Ended) {
    if isHead { return }
    var rest = Array(bytes)
    if let left, Int64(rest.count) > left { rest.removeLast(rest.count - Int(left)) }
    while !rest.isEmpty {
      let piece = rate.map { Array(rest.prefix(Int(max(min($0 / 16, 64 * 1024), 1)))) } ?? rest
      rest.removeFirst(piece.count)
      try sendPiece(piece)
      if let rate { try pause(Double(piece.count) / Double(max(rate, 1))) }
    }
  }

  private func sendPiece(_ piece: [UInt8]) throws(Ended) {
    if isChunked {
      try send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10])
    } else {
      try send(piece)
    }
    left = left.map { $0 - Int64(piece.count) }
    onSent?(piece.count)
  }

  /// A whole answer.
  package func respond(
    _ status: Int, _ headers: [(name: String, value: String)] = [], body: some Collection<UInt8>
  ) throws(Ended) {
    try begin(status, headers, length: Int64(body.count))
    try write(body)
  }

  /// Waits while the client is there.
  package func pause(_ seconds: Double) throws(Ended) {
    if Readiness.wait(for: .hangup, of: socket, or: stop, until: .after(seconds)) != .timedOut {
      throw Ended()
    }
  }

  /// Ends the connection with what was sent so far.
  package func cut() -> Ended {
    keepsConnection = false
    return Ended()
  }

  /// Ends the connection by a TCP reset.
  package func reset() -> Ended {
    LoopbackSocket.resetAtClose(socket)
    return cut()
  }

  /// Sends bytes as they are: for answers that are no proper HTTP. The connection closes afterwards.
  package func writeRaw(_ bytes: [UInt8]) throws(Ended) {
    keepsConnection = false
    hasHead = true
    left = nil
    try send(bytes)
  }

  /// After the handler has returned: the last chunk; false where the connection must close.
  func finish() -> Bool {
    guard keepsConnection, hasHead else { return false }
    if isHead { return true }
    if isChunked { return (try? send(Array("0\r\n\r\n".utf8))) != nil }
    return left == nil || left == 0
  }

  private func send(_ bytes: [UInt8]) throws(Ended) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(socket, buffer.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        done += count
        continue
      }
      let reason = Errno.current
      if reason == .EINTR { continue }
      guard reason == .EAGAIN,
        Readiness.wait(for: .write, of: socket, or: stop, until: .after(Self.patience)) == .ready
      else {
        keepsConnection = false
        throw Ended()
      }
    }
  }

  /// The usual words for a status (RFC 9110 §15).
  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 416: "Range Not Satisfiable"
    case 429: "Too Many Requests"
    case 503: "Service Unavailable"
    default: "Status"
    }
  }
}
