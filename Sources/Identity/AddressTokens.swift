/// What a host makes anew for each answer, wherever in an address it puts it: `/t/3f9a81c2/12.mp3`, `12.mp3?zz=3f9a81c2`.
enum AddressTokens {
  /// In the place of a token.
  private static let mark = "*"

  /// - Parameters:
  ///   - place: host and path.
  ///   - query: what is asked for, without signatures.
  /// - Returns: nil where there is no token.
  static func without(_ place: String, _ query: [Substring]) -> String? {
    var segments = place.split(separator: "/")
    var hasToken = false
    // The last one is the file's own name, if it has an ending.
    for index in segments.indices.dropFirst() where isToken(segments[index]) {
      segments[index] = Substring(mark)
      hasToken = true
    }
    let rest = query.filter { pair in
      let value = pair.drop { $0 != "=" }.dropFirst()
      return !isToken(value) && !isTime(value)
    }
    guard hasToken || rest.count < query.count else { return nil }
    let path = segments.joined(separator: "/")
    return rest.isEmpty ? path : path + "?" + rest.joined(separator: "&")
  }

  /// Letters and digits that follow each other as by chance; no words with numbers, and no name with an ending.
  static func isToken(_ text: Substring) -> Bool {
    guard text.utf8.count >= shortest, text.utf8.allSatisfy(isPart) else { return false }
    let isHex = text.utf8.allSatisfy { isDigit($0) || (97...102).contains($0 | 0x20) || $0 == 45 }
    return text.split { !$0.isLetter && !$0.isNumber }.contains { run in
      let changes = zip(run.utf8, run.utf8.dropFirst()).count { isDigit($0) != isDigit($1) }
      if isHex { return changes >= (run.utf8.count >= 8 ? 1 : 2) }
      return text.utf8.count >= long && changes >= 3
    }
  }

  private static let shortest = 6
  /// Of letters that are no hexadecimal digits.
  private static let long = 10

  /// Seconds or milliseconds since 1970, or a number as long.
  private static func isTime(_ text: Substring) -> Bool {
    text.utf8.count >= 10 && text.utf8.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  private static func isPart(_ byte: UInt8) -> Bool {
    isDigit(byte) || (97...122).contains(byte | 0x20) || [45, 95, 126, 37, 61, 43].contains(byte)
  }
}
