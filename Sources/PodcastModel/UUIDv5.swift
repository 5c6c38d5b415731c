/// Name-based UUIDs: the same name gives the same UUID everywhere (RFC 9562 §5.5).
package enum UUIDv5 {
  /// The namespace of URLs (RFC 9562 §6.6).
  package static let url: [UInt8] = [
    0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
  ]

  static func bytes(namespace: [UInt8], name: [UInt8]) -> [UInt8] {
    var bytes = Array(SHA1.digest(of: namespace + name).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x50
    bytes[8] = bytes[8] & 0x3f | 0x80
    return bytes
  }

  /// The UUID in its usual form, lower-case with hyphens.
  package static func text(namespace: [UInt8], name: [UInt8]) -> String {
    let digits = Hexadecimal.text(bytes(namespace: namespace, name: name))
    return digits.enumerated().map { [8, 12, 16, 20].contains($0) ? "-\($1)" : "\($1)" }.joined()
  }
}
