internal import Glibc
internal import PosixKit

/// Reads requests from a connection, one head after the other.
struct RequestReader {
  enum Outcome {
    case request(ServerRequest)
    /// To be answered with that status, after which the connection closes.
    case refused(Int)
    /// The client has closed, or the server stops.
    case ended
  }

  /// Bytes of a head at most.
  static let limit = 64 * 1024
  /// Seconds that a connection may be idle, and that a head may take.
  static let patience = 60.0

  /// Bytes of a body at most; 0 for a server that takes none.
  let longestBody: Int
  private var buffer: [UInt8] = []
  /// The head of a request whose body is still to come, and how long that is.
  private var begun: (request: ServerRequest, length: Int)?

  init(longestBody: Int) { self.longestBody = longestBody }

  mutating func next(from socket: Int32, stop: WakeupEvent) -> Outcome {
    let deadline = MonotonicTime.after(Self.patience)
    while true {
      if let (request, length) = begun {
        if buffer.count >= length { return whole(request, length) }
      } else if let end = Self.endOfHead(buffer) {
        let head = Array(buffer[..<end])
        buffer.removeFirst(end)
        let outcome = parse(head)
        guard case .request(let request) = outcome, let length = Self.bodyLength(request) else {
          return outcome
        }
        begun = (request, length)
        continue
      } else {
        if buffer.count > Self.limit { return .refused(431) }
        // No method: a TLS client, say, which would wait for more.
        if let first = buffer.first, !(65...90).contains(first) { return .refused(400) }
      }
      switch Readiness.wait(for: .read, of: socket, or: stop, until: deadline) {
      case .woken, .timedOut: return .ended
      case .ready: break
      }
      var piece = [UInt8](repeating: 0, count: 8192)
      let count = recv(socket, &piece, piece.count, 0)
      if count < 0 && (Errno.current == .EAGAIN || Errno.current == .EINTR) { continue }
      if count <= 0 { return .ended }
      buffer += piece[..<count]
    }
  }

  private mutating func whole(_ head: ServerRequest, _ length: Int) -> Outcome {
    var request = head
    request.body = Array(buffer[..<length])
    buffer.removeFirst(length)
    begun = nil
    return .request(request)
  }

  /// nil for a request without a body.
  private static func bodyLength(_ request: ServerRequest) -> Int? {
    request.header("content-length").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Behind the empty line.
  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...bytes.count - 4).first {
      bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
    }.map { $0 + 4 }
  }

  private func parse(_ head: [UInt8]) -> Outcome {
    let text = String(decoding: head, as: UTF8.self)
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: true)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return .refused(400) }
    var headers: [(name: String, value: String)] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return .refused(400) }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      headers.append((line[..<colon].lowercased(), String(value)))
    }
    let request = ServerRequest(
      method: String(words[0]), target: String(words[1]), headers: headers,
      isHTTP11: words[2] == "HTTP/1.1")
    let hasBody =
      request.header("transfer-encoding") != nil || (request.header("content-length") ?? "0") != "0"
    if hasBody {
      guard let length = Self.bodyLength(request), length <= longestBody else { return .refused(413) }
    }
    let methods = longestBody > 0 ? ["GET", "HEAD", "POST", "PUT"] : ["GET", "HEAD"]
    guard methods.contains(request.method) else { return .refused(405) }
    guard request.target.hasPrefix("/") || request.target.hasPrefix("http://") else { return .refused(400) }
    return .request(request)
  }
}
