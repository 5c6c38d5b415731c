/// Reads durations as `itunes:duration` has them.
package enum DurationText {
  /// - Returns: whole seconds for `H:MM:SS`, `MM:SS`, seconds (a fraction is cut off; `1,234` is a thousand and
  ///   more), `1h 20m 5s` and `PT1H20M5S`
  ///   (ISO 8601); nil for anything else, for nothing at all, for 0 and for more than 100 days.
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

  /// Numbers with `d`, `h`, `m` and `s` after them, in this order; what ISO 8601 puts before them does not count.
  private static func withUnits(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var total = 0
    var part: Int?
    var smallest = Int.max
    for byte in bytes {
      switch byte {
      case 48...57:
        part = (part ?? 0) * 10 + Int(byte - 48)
        if part ?? 0 > longest { return nil }
      case 0...0x20: break
      case UInt8(ascii: "P"), UInt8(ascii: "T"): if part != nil { return nil }
      default:
        guard let number = part, let unit = units[byte | 0x20], unit < smallest else { return nil }
        total += number * unit
        (part, smallest) = (nil, unit)
      }
    }
    return part == nil ? total : nil
  }

  private static let units: [UInt8: Int] = [
    UInt8(ascii: "d"): 86_400, UInt8(ascii: "h"): 3600, UInt8(ascii: "m"): 60, UInt8(ascii: "s"): 1,
  ]
}
