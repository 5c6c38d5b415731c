package import PodcastModel

/// A message that goes over the socket: a frame is the length of the rest (4 bytes), then the message: its
/// kind and its fields, integers little-endian, texts with their length before them, what may be missing
/// with a byte 0 or 1 before it.
package protocol FramedMessage: Sendable {
  func encode(into writer: inout FrameWriter)
  init(from reader: inout FrameReader) throws(FrameError)
}

/// What is wrong with what came: the connection can't go on.
package enum FrameError: Error, Hashable, Sendable {
  /// Longer than `FrameWriter.longest`.
  case tooLong
  /// Not a message, or one with bytes missing or left over.
  case malformed
}

extension FramedMessage {
  /// The message as a frame.
  package var frame: [UInt8] {
    var writer = FrameWriter()
    encode(into: &writer)
    return writer.frame
  }
}

/// Builds a frame.
package struct FrameWriter: Sendable {
  /// The version of the protocol, in `hello` and `welcome`, which stay as they are in all versions.
  package static let version: UInt32 = 6
  /// No frame is longer; the sender sees to it.
  package static let longest = 1 << 20
  /// Texts are cut here: no title or address of use is longer.
  private static let longestText = 16 << 10

  private var bytes: [UInt8] = [0, 0, 0, 0]

  package init() {}

  package var frame: [UInt8] {
    var frame = bytes
    let length = UInt32(bytes.count - 4).littleEndian
    withUnsafeBytes(of: length) { frame.replaceSubrange(0..<4, with: $0) }
    return frame
  }

  package mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ kind: UInt8, _ id: UInt64) {
    put(kind)
    put(id)
  }

  package mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

  package mutating func put(_ value: String) {
    let text = value.utf8.count <= Self.longestText ? value : value.prefix(utf8: Self.longestText)
    put(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func put(_ value: String?) {
    put(value != nil)
    if let value { put(value) }
  }

  package mutating func put<I: FixedWidthInteger>(_ value: I?) {
    put(value != nil)
    if let value { put(value) }
  }

  /// A few texts by their names.
  package mutating func put(_ value: [String: String]?) {
    put(value != nil)
    guard let value else { return }
    put(UInt8(clamping: value.count))
    for (name, text) in value.sorted(by: { $0.key < $1.key }).prefix(255) {
      put(name)
      put(text)
    }
  }

  package mutating func put(_ value: MediaKey) { bytes.append(contentsOf: value.text.utf8) }
}

extension String {
  /// The longest beginning of at most `count` bytes that cuts no character.
  fileprivate func prefix(utf8 count: Int) -> String {
    var end = utf8.index(utf8.startIndex, offsetBy: count)
    while end > startIndex, end.samePosition(in: self) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
