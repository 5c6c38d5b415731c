/// Where a name keeps characters of no width that join its letters or keep them apart: Persian words, Indic clusters and
/// emoji sequences are spelled with them. Rules A1, A2 and B of UAX #31 §2.3.1, and UTS #51's emoji ZWJ sequences.
enum NameJoiners {
  static let nonJoiner: Unicode.Scalar = "\u{200C}"
  private static let joiner: Unicode.Scalar = "\u{200D}"
  /// Asks for the picture of a character; stands before the joiner in some emoji sequences.
  private static let pictureSelector: Unicode.Scalar = "\u{FE0F}"

  static func areJoiners(_ scalar: Unicode.Scalar) -> Bool {
    scalar == joiner || scalar == nonJoiner || scalar == pictureSelector
  }

  /// - Parameters:
  ///   - before: the name so far.
  ///   - rest: what follows, without what the name leaves out at its beginning.
  static func isNeeded(
    _ scalar: Unicode.Scalar, after before: String.UnicodeScalarView, before rest: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let last = before.last, last != joiner, last != nonJoiner else { return false }
    if scalar == pictureSelector {
      return isEmoji(last) && rest.first == joiner && (rest.dropFirst().first.map(isEmoji) ?? false)
    }
    if scalar == joiner, isEmoji(last) || last == pictureSelector { return rest.first.map(isEmoji) ?? false }
    let next = rest.first
    if last.properties.canonicalCombiningClass == .virama {
      // Rule B lets a joiner stand at the end of a word, as Malayalam's chillu letters have it.
      return scalar == joiner ? !(next?.isMark ?? false) : next.map(isLetter) ?? false
    }
    guard scalar == nonJoiner, let base = before.last(where: { !$0.isMark }) else { return false }
    let following = rest.first { !$0.isMark }
    return joinsToNext(base) && (following.map(isOfJoiningScript) ?? false)
  }

  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    !scalar.isASCII && scalar.properties.isEmoji
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic }

  /// Letters of scripts whose letters join: Arabic, Syriac, N'Ko, Mandaic, Mongolian, Hanifi Rohingya, Adlam.
  private static func isOfJoiningScript(_ scalar: Unicode.Scalar) -> Bool {
    guard isLetter(scalar) else { return false }
    return switch scalar.value {
    case 0x620...0x77F, 0x7CA...0x7EA, 0x840...0x858, 0x860...0x86A, 0x870...0x8C7, 0x1820...0x18AA,
      0x10D00...0x10D23, 0x1E900...0x1E943:
      true
    default: false
    }
  }

  /// Whether a letter joins to the next one: those of Arabic that join only to the one before do not.
  private static func joinsToNext(_ scalar: Unicode.Scalar) -> Bool {
    guard isOfJoiningScript(scalar) else { return false }
    return switch scalar.value {
    case 0x621...0x625, 0x627, 0x629, 0x62F...0x632, 0x648, 0x671...0x677, 0x688...0x699, 0x6C0,
      0x6C3...0x6CB, 0x6CD, 0x6CF, 0x6D2...0x6D3, 0x6D5, 0x6EE...0x6EF, 0x710, 0x715...0x719, 0x71E, 0x728,
      0x72A, 0x72C, 0x72F, 0x74D, 0x759...0x75B, 0x76B...0x76C, 0x771, 0x773...0x774, 0x778...0x779:
      false
    default: true
    }
  }
}

extension Unicode.Scalar {
  /// Whether it stands on the letter before it.
  var isMark: Bool {
    if isASCII { return false }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }
}
