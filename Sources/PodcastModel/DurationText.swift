/// Reads durations as `itunes:duration` has them.
package enum DurationText {
  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  /// - Returns: whole seconds for `H:MM:SS`, `MM:SS`, seconds (a fraction is cut off), `1h 20m 5s`, `1h20`, `90 min`,
  ///   `1.5 h` and `PT1H20M5.5S` (ISO 8601); nil for anything else, for nothing at all, for 0 and for more than 100 days.
  package static func seconds(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// - Returns: as above.
  package static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var text = bytes.drop { $0 <= 0x20 }
    while let last = text.last, last <= 0x20 { text.removeLast() }
    let seconds = text.contains(where: isLetter) ? units(text) : clock(text)
    return seconds.flatMap { (1...8_640_000).contains($0) ? $0 : nil }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }

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

  /// Numbers with a unit after them, the larger first; one without is of the next smaller unit. What ISO 8601 puts
  /// before them does not count.
  private static func units(_ text: Bytes) -> Int? {
    var rest = text
    var (total, smallest) = (0.0, Int.max)
    func take(_ isTaken: (UInt8) -> Bool) -> Bytes {
      let taken = rest.prefix(while: isTaken)
      rest = rest[taken.endIndex...]
      return taken
    }
    func word() -> String { String(decoding: take(isLetter), as: UTF8.self).lowercased() }
    guard ["", "p", "pt"].contains(word()) else { return nil }
    while !rest.isEmpty {
      _ = take { $0 <= 0x20 }
      guard var number = number(take(isDigit)).map(Double.init) else { return nil }
      // A comma may also part units.
      if let mark = rest.first, isMark(mark), let next = rest.dropFirst().first, isDigit(next) {
        rest.removeFirst()
        number += take(isDigit).prefix(9).reversed().reduce(0.0) { ($0 + Double($1 - 48)) / 10 }
      }
      _ = take { $0 <= 0x20 }
      let name = word()
      guard let unit = name.isEmpty ? nextSmaller[smallest] : units[name], unit < smallest else { return nil }
      total += (number * Double(unit)).rounded(.down)
      smallest = unit
      _ = take { $0 <= 0x20 || $0 == UInt8(ascii: ",") }
    }
    return smallest == .max ? nil : Int(total)
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
