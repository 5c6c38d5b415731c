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

  /// Latin letters without their marks: "Köln" as "Koln".
  package var withoutLatinMarks: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var scalars = String.UnicodeScalarView()
    for character in self {
      if let base = String(character)._nfd.first(where: { _ in true }), base.value < 0x250 {
        scalars.append(base)
      } else {
        scalars.append(contentsOf: character.unicodeScalars)
      }
    }
    return String(scalars)
  }
}
