internal import WebValues

/// Something with a fixed size that the server gives whole or in part (RFC 9110 §13, §14).
package struct ServedContent: Sendable {
  package var size: Int64
  package var mediaType: String
  /// With its quotes; `W/` before it where it is weak.
  package var etag: String?
  /// In seconds since 1970.
  package var lastModified: Int64?
  /// Bytes per second at most; nil for no bound.
  package var rate: Int64?
  /// Gives the bytes of a range that lies within the size.
  package var read: @Sendable (Range<Int64>) -> [UInt8]

  package init(size: Int64, mediaType: String, read: @escaping @Sendable (Range<Int64>) -> [UInt8]) {
    self.size = size
    self.mediaType = mediaType
    self.read = read
  }

  /// All of `bytes`.
  package init(_ bytes: [UInt8], mediaType: String) {
    self.init(size: Int64(bytes.count), mediaType: mediaType) {
      Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)])
    }
  }

  /// What a request gets: the status, the header fields, and which bytes follow.
  package struct Answer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    /// nil where none do.
    package var range: Range<Int64>?

    package init(status: Int, headers: [(name: String, value: String)], range: Range<Int64>? = nil) {
      self.status = status
      self.headers = headers
      self.range = range
    }
  }

  /// The answer to a request: 200, 206, 304 or 416.
  package func answer(to request: ServerRequest) -> Answer {
    var headers = [(name: "Accept-Ranges", value: "bytes")]
    if let etag { headers.append(("ETag", etag)) }
    if let lastModified { headers.append(("Last-Modified", CivilTime.http(lastModified))) }
    if isUnchanged(for: request) { return Answer(status: 304, headers: headers) }
    let typed = headers + [("Content-Type", mediaType)]
    switch RangeRequest(honouredRange(of: request), size: size) {
    case .whole: return Answer(status: 200, headers: typed, range: 0..<size)
    case .part(let range):
      let part = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
      return Answer(status: 206, headers: typed + [("Content-Range", part)], range: range)
    case .unsatisfiable:
      return Answer(status: 416, headers: headers + [("Content-Range", "bytes */\(size)")])
    }
  }

  /// Answers a request.
  package func respond(
    to request: ServerRequest, _ writer: ResponseWriter
  ) throws(ResponseWriter.Ended) {
    let answer = answer(to: request)
    let range = answer.range ?? 0..<0
    try writer.begin(answer.status, answer.headers, length: Int64(range.count))
    try send(range, writer)
  }

  private func send(_ range: Range<Int64>, _ writer: ResponseWriter) throws(ResponseWriter.Ended) {
    if writer.isHead { return }
    writer.rate = rate
    var position = range.lowerBound
    while position < range.upperBound {
      let end = min(position + 64 * 1024, range.upperBound)
      try writer.write(read(position..<end))
      position = end
    }
  }

  /// The Range header, unless If-Range names another representation (RFC 9110 §13.1.5).
  private func honouredRange(of request: ServerRequest) -> String? {
    guard let range = request.header("range") else { return nil }
    guard let condition = request.header("if-range") else { return range }
    if condition.hasPrefix("\"") { return condition == etag ? range : nil }
    return lastModified != nil && DateText.seconds(condition) == lastModified ? range : nil
  }

  /// Whether the client's copy is the same (RFC 9110 §13.1.2, §13.1.3).
  private func isUnchanged(for request: ServerRequest) -> Bool {
    if let tags = request.header("if-none-match") {
      if tags == "*" { return true }
      guard let etag else { return false }
      return tags.split(separator: ",").contains { Self.opaque($0) == Self.opaque(Substring(etag)) }
    }
    guard let since = request.header("if-modified-since").flatMap(DateText.seconds), let lastModified else {
      return false
    }
    return lastModified <= since
  }

  /// A tag without blanks around it and the mark of a weak one.
  private static func opaque(_ tag: Substring) -> Substring {
    let bare = tag.drop { $0 == " " || $0 == "\t" }.split(separator: " ").first ?? ""
    return bare.hasPrefix("W/") ? bare.dropFirst(2) : bare
  }
}
