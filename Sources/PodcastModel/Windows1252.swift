/// The code page that most text without a declared encoding is in (WHATWG Encoding, windows-1252).
package enum Windows1252 {
  /// Appends what a byte means, in UTF-8.
  package static func append(_ byte: UInt8, to text: inout [UInt8]) {
    let value = (0x80...0x9F).contains(byte) ? scalars[Int(byte) - 0x80] : UInt16(byte)
    if let scalar = Unicode.Scalar(value) { text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter }
  }

  /// What the bytes 0x80 to 0x9F mean; all others are those of Latin 1.
  package static let scalars: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122,
    0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
  ]
}
