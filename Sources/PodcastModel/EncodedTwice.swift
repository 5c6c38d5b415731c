/// Text in UTF-8 that somebody took for windows-1252 and encoded once more: "KÃ¶lner" for "Kölner".
enum EncodedTwice {
  /// What was meant, where all of the text can only have come about so; else the text as it is.
  static func repaired(_ text: String) -> String {
    // What such text always has: "Ã" and its neighbours, which begin with this byte.
    guard text.utf8.contains(0xC3) else { return text }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard let byte = byte(of: scalar) else { return text }
      bytes.append(byte)
    }
    return String(validating: bytes, as: UTF8.self) ?? text
  }

  private static func byte(of scalar: Unicode.Scalar) -> UInt8? {
    if scalar.value < 0x100 { return UInt8(scalar.value) }
    return special[scalar.value]
  }

  /// The bytes 0x80 to 0x9F, by what windows-1252 takes them for.
  private static let special: [UInt32: UInt8] = {
    var table: [UInt32: UInt8] = [:]
    for (index, scalar) in Windows1252.scalars.enumerated() { table[UInt32(scalar)] = UInt8(0x80 + index) }
    return table
  }()
}
