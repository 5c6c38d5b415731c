/// Reads durations as `itunes:duration` has them.
package enum DurationText {
  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  /// - Returns: whole seconds for `H:MM:SS`, `MM:SS`, seconds (a fraction is cut off), `1h 20m 5s`, `1h20` and
  ///   `90 min`; nil for anything else, for nothing at all, for 0 and for more than 100 days.
  package static func seconds(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  package static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var text = bytes.drop { $0 <= 0x20 }
    while let last = text.last, last <= 0x20 { text.removeLast() }
    let seconds = text.contains(where: HTMLReader.isLetter) ? units(text) : clock(text)
    return seconds.flatMap { (1...8_640_000).contains($0) ? $0 : nil }
  }

  /// The same in the largest unit that leaves no rest: "1h", "10m", "90s".
  package static func text(_ seconds: Int) -> String {
    if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
    return seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") }

  /// nil for anything but one to eight digits.
  private static func number(_ text: Bytes) -> Int? {
    guard (1...8).contains(text.count), text.allSatisfy(isDigit) else { return nil }
    return text.reduce(0) { $0 * 10 + Int($1 - 48) }
  }

  private static func clock(_ text: Bytes) -> Int? {
    // A fraction of the last part.
    let whole = text.prefix { !isMark($0) }
    guard text[whole.endIndex...].dropFirst().allSatisfy(isDigit) else { return nil }
    let parts = whole.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    let numbers = parts.compactMap(number)
    guard parts.count <= 3, numbers.count == parts.count else { return nil }
    return numbers.reduce(0) { $0 * 60 + $1 }
  }

  /// Numbers with a unit behind them, the larger first; one without is of the next smaller unit ("1h20").
  private static func units(_ text: Bytes) -> Int? {
    var rest = text
    var (total, smallest) = (0, Int.max)
    while !rest.isEmpty {
      let digits = rest.prefix(while: isDigit)
      rest = rest[digits.endIndex...].drop { $0 <= 0x20 }
      let name = String(decoding: rest.prefix(while: HTMLReader.isLetter), as: UTF8.self)
      rest = rest.dropFirst(name.utf8.count).drop { $0 <= 0x20 || $0 == UInt8(ascii: ",") }
      guard let number = number(digits),
        let unit = name.isEmpty ? [3600: 60, 60: 1][smallest] : units[name.lowercased()], unit < smallest
      else { return nil }
      total += number * unit
      smallest = unit
    }
    return total
  }

  /// In seconds.
  private static let units: [String: Int] = [
    "d": 86_400, "day": 86_400, "days": 86_400, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600,
    "hours": 3600, "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60, "s": 1, "sec": 1, "secs": 1,
    "second": 1, "seconds": 1,
  ]
}
