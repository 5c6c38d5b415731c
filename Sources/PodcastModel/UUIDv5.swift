/// Name-based UUIDs: the same name gives the same UUID everywhere (RFC 9562 §5.5).
package enum UUIDv5 {
  /// The namespace of URLs (RFC 9562 §6.6).
  package static let url: [UInt8] = [
    0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
  ]

  /// The podcast namespace, of which a feed's address without scheme and trailing slashes is the name
  /// (Podcasting 2.0, `podcast:guid`).
  package static let podcast: [UInt8] = [
    0xea, 0xd4, 0xc2, 0x36, 0xbf, 0x58, 0x58, 0xc6, 0xa2, 0xc6, 0xa6, 0xb2, 0x8d, 0x12, 0x8c, 0xb6,
  ]

  /// The UUID in its usual form, lower-case with hyphens.
  package static func text(namespace: [UInt8], name: [UInt8]) -> String {
    var bytes = Array(SHA1.digest(of: namespace + name).prefix(16))
    bytes[6] = bytes[6] & 0x0f | 0x50
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
