@_spi(_Unicode) internal import Swift

extension String {
  /// The same text in Unicode's normalization form C (UAX #15).
  ///
  /// The standard library has the tables and compares strings by them, but offers the form itself only
  /// under this name; Foundation would bring ICU along.
  package var inNormalizationFormC: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: self._nfc)
    return String(scalars)
  }

  /// Greek, Cyrillic, Hebrew and Arabic letters without their marks: "Αθήνα" as "Αθηνα", "ёлка" as "елка". Those of other
  /// scripts stay as they are.
  package var withoutMarks: String {
    // The lead bytes of what lies from U+0300 to U+07FF, and of Greek's second block.
    guard utf8.contains(where: { (0xCC...0xDF).contains($0) || $0 == 0xE1 }) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      let bases = scalar.value < 0x1F00 ? Self.bases : Self.greekBases
      let place = Int(scalar.value) - (scalar.value < 0x1F00 ? 0x300 : 0x1F00)
      if let base = bases.indices.contains(place) ? bases[place] : scalar { text.unicodeScalars.append(base) }
    }
  }

  /// Without marks of any script, those of Latin letters included.
  package var withoutAnyMarks: String {
    var scalars = String.UnicodeScalarView()
    for scalar in _nfd where scalar.properties.generalCategory != .nonspacingMark { scalars.append(scalar) }
    return String(scalars)
  }

  /// The letter in each of these characters; nil for a mark alone.
  private static let bases = (0x300..<0x700).map(base)
  private static let greekBases = (0x1F00..<0x2000).map(base)

  private static func base(of value: Int) -> Unicode.Scalar? {
    guard let scalar = Unicode.Scalar(UInt32(value)) else { return nil }
    let base = String(scalar)._nfd.first { _ in true } ?? scalar
    return base.properties.generalCategory == .nonspacingMark ? nil : base
  }
}
