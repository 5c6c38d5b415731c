/// Text in UTF-8 that somebody took for windows-1252 and encoded once more: "KÃ¶lner" for "Kölner".
enum EncodedTwice {
  /// What was meant, where all of the text can only have come about so; else the text as it is.
  static func repaired(_ text: String) -> String {
    // What such text always has: "Ã" and its neighbours, which begin with this byte.
    guard text.utf8.contains(0xC3), beginsAsSuch(text.unicodeScalars) else { return text }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard let byte = byte(of: scalar) else { return text }
      bytes.append(byte)
    }
    guard let meant = String(validating: bytes, as: UTF8.self), !isChance(meant.unicodeScalars) else {
      return text
    }
    return meant
  }

  /// The first letter that is not ASCII begins a character of UTF-8, and the next one goes on with it: what hardly any other
  /// text has.
  private static func beginsAsSuch(_ scalars: String.UnicodeScalarView) -> Bool {
    guard let first = scalars.firstIndex(where: { $0.value >= 0x80 }),
      let lead = byte(of: scalars[first]), (0xC2...0xF4).contains(lead)
    else { return false }
    let next = scalars.index(after: first)
    return next < scalars.endIndex && byte(of: scalars[next]).map { (0x80...0xBF).contains($0) } ?? false
  }

  /// A single letter may have come about otherwise: "é“”" is a character of Chinese. Those that many write alone are Latin
  /// letters, and punctuation.
  private static func isChance(_ scalars: String.UnicodeScalarView) -> Bool {
    let others = scalars.filter { $0.value >= 0x80 }
    guard others.count == 1, let one = others.first else { return false }
    return (0x250..<0x10000).contains(one.value) && !(0x2000..<0x2200).contains(one.value)
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
