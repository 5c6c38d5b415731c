/// Reads durations as `itunes:duration` has them.
package enum DurationText {
  /// - Returns: whole seconds for `H:MM:SS`, `MM:SS`, seconds (a fraction is cut off; `1,234` is a thousand and
  ///   more), `1h 20m 5s`, `1h20`, `90 min`, `1.5 h` and
  ///   `PT1H20M5.5S` (ISO 8601); nil for anything else, for nothing at all, for 0 and for more than 100 days.
  package static func seconds(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// - Returns: as above.
  package static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let hasUnits = bytes.contains { $0 | 0x20 >= UInt8(ascii: "a") }
    guard let seconds = hasUnits ? withUnits(bytes) : withThousands(bytes) ?? withColons(bytes) else {
      return nil
    }
    return (1...longest).contains(seconds) ? seconds : nil
  }

  /// 100 days.
  private static let longest = 8_640_000

  /// Digits in groups of three: "1,234".
  private static func withThousands(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let text = bytes.drop { $0 <= 0x20 }
    let number = text.prefix { $0 > 0x20 }
    if text.dropFirst(number.count).contains(where: { $0 > 0x20 }) { return nil }
    let groups = number.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard groups.count == 2 || groups.count == 3, groups[0].first != UInt8(ascii: "0") else { return nil }
    var total = 0
    for (place, group) in groups.enumerated() {
      guard place == 0 ? (1...3).contains(group.count) : group.count == 3 else { return nil }
      for digit in group {
        guard (48...57).contains(digit) else { return nil }
        total = total * 10 + Int(digit - 48)
      }
    }
    return total
  }

  private static func withColons(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var total = 0
    var part = 0
    var colons = 0
    var hasDigit = false
    var isFraction = false
    var hasEnded = false
    for byte in bytes {
      switch byte {
      case 48...57:
        if hasEnded { return nil }
        hasDigit = true
        if !isFraction { part = part * 10 + Int(byte - 48) }
        if part > longest { return nil }
      case UInt8(ascii: ":"):
        colons += 1
        if hasEnded || isFraction || colons > 2 { return nil }
        total = (total + part) * 60
        part = 0
      case UInt8(ascii: "."), UInt8(ascii: ","):
        if hasEnded || isFraction { return nil }
        isFraction = true
      case 0...0x20: hasEnded = hasDigit
      default: return nil
      }
    }
    return hasDigit ? total + part : nil
  }

  /// Numbers with a unit after them, the larger first; one without is of the next smaller unit. What ISO 8601 puts before them
  /// does not count.
  private static func withUnits(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var total = 0
    var smallest = Int.max
    var rest = bytes[...]
    func skipBlanks() { rest = rest.drop { $0 <= 0x20 || $0 == UInt8(ascii: ",") } }
    func word() -> String {
      let word = rest.prefix { (97...122).contains($0 | 0x20) }
      rest = rest[word.endIndex...]
      return String(decoding: word, as: UTF8.self).lowercased()
    }
    skipBlanks()
    if !["", "p", "pt"].contains(word()) { return nil }
    skipBlanks()
    while !rest.isEmpty {
      let digits = rest.prefix { (48...57).contains($0) }
      guard (1...8).contains(digits.count) else { return nil }
      let number = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
      rest = rest[digits.endIndex...]
      let fraction = takeFraction(&rest)
      skipBlanks()
      let name = word()
      guard let unit = name.isEmpty ? nextSmaller[smallest] : units[name], unit < smallest else { return nil }
      total += number * unit + Int(fraction * Double(unit))
      smallest = unit
      skipBlanks()
    }
    return smallest == .max ? nil : total
  }

  /// A point or comma with digits behind it, below 1; 0 where none is there. (A comma may also part units.)
  private static func takeFraction(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Double {
    guard let mark = rest.first, mark == UInt8(ascii: ".") || mark == UInt8(ascii: ",") else { return 0 }
    let digits = rest.dropFirst().prefix { (48...57).contains($0) }
    if digits.isEmpty { return 0 }
    rest = rest[digits.endIndex...]
    return digits.prefix(9).reversed().reduce(0.0) { ($0 + Double($1 - 48)) / 10 }
  }

  /// In seconds.
  private static let units: [String: Int] = [
    "d": 86_400, "dt": 86_400, "day": 86_400, "days": 86_400,
    "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "std": 3600,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
  ]

  /// "1h20", "5m30".
  private static let nextSmaller = [3600: 60, 60: 1]
}
