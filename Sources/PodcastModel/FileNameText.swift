/// Turns any text into one that is a valid part of a file name on Linux, Windows and Samba (Documentation/Semantics.md).
package enum FileNameText {
  /// The text without what no name may hold, in normalization form C, white space collapsed to single
  /// blanks, with no blank, dot or mark without a base at its start, and no blank or dot at its end. May be
  /// empty. Doing it twice changes nothing.
  package static func cleaned(_ text: String) -> String {
    if isClean(text) { return text }
    // A title longer than this is cut anyway: a hostile one shall not cost more than its first part.
    let input = Array(text.unicodeScalars.prefix(4096))
    var output = String.UnicodeScalarView()
    var hasPendingBlank = false
    for (index, given) in input.enumerated() {
      let next = index + 1 < input.count ? input[index + 1] : " "
      let last = hasPendingBlank ? nil : output.last
      // "Episode 5: Harbours" reads "Episode 5 - Harbours"; "12:30" reads "12-30".
      if isBlank(given) || given == ":" && isBlank(next) { hasPendingBlank = true }
      guard !isBlank(given), let scalar = replacement(of: given, after: last, before: next) else { continue }
      if isDropped(scalar) {
        let isNeeded =
          !hasPendingBlank && NameJoiners.areJoiners(scalar)
          && NameJoiners.isNeeded(scalar, after: output, before: input[(index + 1)...].drop(while: isSkipped))
        if isNeeded { output.append(scalar) }
        continue
      }
      if output.isEmpty || hasPendingBlank, scalar.isMark { continue }
      if hasPendingBlank, !output.isEmpty { output.append(" ") }
      hasPendingBlank = false
      output.append(scalar)
    }
    return trimmedEnd(String(output).inNormalizationFormC)
  }

  /// Whether it is plain ASCII in which there is nothing to be changed, as most titles are.
  private static func isClean(_ text: String) -> Bool {
    let blank = UInt8(ascii: " ")
    // The text counts as preceded by a blank, so that no blank begins the name.
    var before = blank
    for byte in text.utf8 {
      if byte < 0x20 || byte >= 0x7F || byte == blank && before == blank || forbidden.contains(byte) {
        return false
      }
      before = byte
    }
    return text.isEmpty || before != blank && before != UInt8(ascii: ".") && text.utf8.count <= 4096
  }

  private static let forbidden = Array(#":/\|"<>*?"#.utf8)

  /// Shortens a text to both limits and removes blanks and dots from its end. The cut is at the end of the last word if
  /// that keeps three quarters of what fits, else between graphemes. A first grapheme that exceeds a limit is cut
  /// between Unicode scalars.
  /// - Parameters:
  ///   - limit: the most bytes of UTF-8.
  ///   - characters: the most Unicode scalars.
  static func cut(_ text: String, toBytes limit: Int, characters: Int) -> String {
    if text.utf8.count <= limit, text.unicodeScalars.count <= characters { return trimmedEnd(text) }
    var (bytes, scalars) = (0, 0)
    // Where the cut is, and where the last word before it ends, with the bytes until there.
    var (end, word) = ((index: text.startIndex, bytes: 0), (index: text.startIndex, bytes: 0))
    for index in text.indices {
      if text[index] == " " { word = (index, bytes) }
      bytes += text[index].utf8.count
      scalars += text[index].unicodeScalars.count
      if bytes > limit || scalars > characters { break }
      end = (text.index(after: index), bytes)
    }
    if end.index == text.startIndex {
      bytes = 0
      let part = text.unicodeScalars.prefix(max(0, characters)).prefix { scalar in
        bytes += UTF8.width(scalar)
        return bytes <= limit
      }
      return cleaned(String(part))
    }
    let isWordLate = word.bytes > 0 && word.bytes * 4 >= end.bytes * 3
    return trimmedEnd(String(text[..<(isWordLate ? word : end).index]))
  }

  /// Without dots, dashes and blanks at its start.
  static func trimmedStart(_ text: String) -> String {
    let rest = text.unicodeScalars.drop { $0 == "." || $0 == "-" || $0 == " " || $0.isMark }
    return String(rest)
  }

  /// Without dots, blanks and a non-joiner at its end.
  static func trimmedEnd(_ text: String) -> String {
    guard let end = text.unicodeScalars.last, isTrimmed(end) else { return text }
    var rest = Substring(text).unicodeScalars
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return String(rest)
  }

  private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "." || scalar == " " || scalar == NameJoiners.nonJoiner
  }

  /// Marks off a name that Windows takes for a device, whatever its extension: "CON" becomes "CON_",
  /// "nul.txt" "nul_.txt" (Microsoft, Naming Files, Paths, and Namespaces).
  static func withoutDeviceName(_ text: String) -> String {
    let base = text.prefix { $0 != "." }
    let word = trimmedEnd(String(base)).uppercased()
    guard devices.contains(word) else { return text }
    return trimmedEnd(String(base)) + "_" + text[base.endIndex...]
  }

  private static let devices = Set(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"]
      + ["COM", "LPT"].flatMap { port in "0123456789¹²³".map { port + String($0) } })

  /// The character that stands in a file name for one of `/ \ : * ? " < > |`; nil where the character is left out.
  private static func replacement(
    of scalar: Unicode.Scalar, after last: Unicode.Scalar?, before next: Unicode.Scalar
  ) -> Unicode.Scalar? {
    switch scalar {
    case ":", "/", "\\", "|": "-"
    case "\"": "'"
    case "<": "‹"
    case ">": "›"
    // Within a word it stands for a letter.
    case "*": last.map(isOfWord) ?? false && (next == "*" || isOfWord(next)) ? "_" : nil
    case "?": nil
    default: scalar
    }
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    // Asking for properties is slow, and most titles are ASCII.
    if scalar.isASCII { return scalar == " " || (0x09...0x0D).contains(scalar.value) }
    return scalar.properties.isWhitespace
  }

  private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_"
  }

  /// What is left out wherever it stands, joiners not included.
  private static func isSkipped(_ scalar: Unicode.Scalar) -> Bool {
    !isBlank(scalar) && isDropped(scalar) && !NameJoiners.areJoiners(scalar)
  }

  /// Controls, format and bidi characters, everything of no width, and what is no character at all.
  private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return true }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }
}
