internal import PodcastModel

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

  /// Answers with 200, 206, 304 or 416.
  package func respond(
    to request: ServerRequest, _ writer: ResponseWriter
  ) throws(ResponseWriter.Ended) {
    var headers = [(name: "Accept-Ranges", value: "bytes")]
    if let etag { headers.append(("ETag", etag)) }
    if let lastModified { headers.append(("Last-Modified", HTTPDate.text(lastModified))) }
    if isUnchanged(for: request) { return try writer.begin(304, headers, length: 0) }
    headers.append(("Content-Type", mediaType))
    switch RangeRequest(honouredRange(of: request), size: size) {
    case .whole:
      try writer.begin(200, headers, length: size)
      try send(0..<size, writer)
    case .part(let range):
      headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"))
      try writer.begin(206, headers, length: range.upperBound - range.lowerBound)
      try send(range, writer)
    case .unsatisfiable:
      try writer.respond(416, [("Content-Range", "bytes */\(size)")], body: [])
    }
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
    return lastModified != nil && HTTPDate.seconds(condition) == lastModified ? range : nil
  }

  /// Whether the client's copy is the same (RFC 9110 §13.1.2, §13.1.3).
  private func isUnchanged(for request: ServerRequest) -> Bool {
    if let tags = request.header("if-none-match") {
      if tags == "*" { return true }
      guard let etag else { return false }
      return tags.split(separator: ",").contains { Self.opaque($0) == Self.opaque(Substring(etag)) }
    }
    guard let since = request.header("if-modified-since").flatMap(HTTPDate.seconds), let lastModified else {
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
