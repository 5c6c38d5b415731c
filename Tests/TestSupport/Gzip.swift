/// gzip (RFC 1952) without compression: for answers that are coded against the client's wish.
package enum Gzip {
  /// The bytes in stored blocks (RFC 1951 §3.2.4).
  package static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var start = 0
    repeat {
      let end = min(start + 65_535, bytes.count)
      let length = UInt16(end - start)
      result.append(end == bytes.count ? 1 : 0)
      result += little(UInt32(length) | UInt32(~length) << 16)
      result += bytes[start..<end]
      start = end
    } while start < bytes.count
    return result + little(checksum(bytes)) + little(UInt32(truncatingIfNeeded: bytes.count))
  }

  private static func little(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// CRC-32 (RFC 1952 §8).
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] }
  }

  /// What each byte does to the sum.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
  }
}
