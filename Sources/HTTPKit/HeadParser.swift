/// Collects the lines of a response's head as libcurl hands them over (RFC 9112 §2.1; HTTP/2 in the same form).
struct HeadParser {
  private(set) var status = 0
  private(set) var headers: [(name: String, value: String)] = []
  private(set) var isComplete = false
  private var size = 0

  /// Bytes at most of all heads of a request together, those of redirects among them.
  static let limit = 256 * 1024

  /// Whether a response of this status with a Location leads elsewhere (RFC 9110 §15.4).
  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Counts a line.
  /// - Returns: false where all heads and trailers together are too long.
  mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
    size += line.count
    return size <= Self.limit
  }

  /// Takes a line with its end; a status line begins a new head.
  /// - Returns: false where all heads together are too long.
  mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
    guard count(line) else { return false }
    var bytes = line[...]
    while let last = bytes.last, last == 13 || last == 10 { bytes = bytes.dropLast() }
    if bytes.isEmpty {
      isComplete = true
      return true
    }
    if bytes.starts(with: Array("HTTP/".utf8)) {
      beginAnew()
      let fields = bytes.split(separator: 32, maxSplits: 2)
      status = fields.count > 1 ? Int(String(decoding: fields[1], as: UTF8.self)) ?? 0 : 0
      return true
    }
    if bytes.first == 32 || bytes.first == 9 {
      // An obsolete fold continues the value before it (RFC 9112 §5.2).
      if let last = headers.indices.last { headers[last].value += " " + Self.trimmed(bytes) }
      return true
    }
    guard let colon = bytes.firstIndex(of: 58) else { return true }
    let name = Self.trimmed(bytes[..<colon]).lowercased()
    headers.append((name, Self.trimmed(bytes[(colon + 1)...])))
    return true
  }

  /// Another request's head comes; it counts with those before.
  mutating func beginAnew() {
    let size = size
    self = HeadParser()
    self.size = size
  }

  /// Whether it tells more than one length of a body that it delimits (RFC 9112 §6.3): nobody knows where that ends.
  var hasTwoLengths: Bool {
    if value("transfer-encoding") != nil { return false }
    let lengths = headers.filter { $0.name == "content-length" }.flatMap { $0.value.split(separator: ",") }
    return Set(lengths.map { ContentRange.number(Substring(String($0).trimmed)) }).count > 1
  }

  /// Whether it asks for this kind of authentication, perhaps among others (RFC 9110 §11.6.1).
  func offers(_ scheme: String) -> Bool {
    headers.contains { name, value in
      name == "www-authenticate"
        && value.lowercased().split(separator: ",").contains {
          String($0).trimmed.split(separator: " ").first == Substring(scheme)
        }
    }
  }

  /// The value of the last header of that lower-case name.
  func value(_ name: String) -> String? { headers.last { $0.name == name }?.value }

  private static func trimmed(_ bytes: UnsafeRawBufferPointer.SubSequence) -> String {
    var bytes = bytes
    while let first = bytes.first, first == 32 || first == 9 { bytes = bytes.dropFirst() }
    while let last = bytes.last, last == 32 || last == 9 { bytes = bytes.dropLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
