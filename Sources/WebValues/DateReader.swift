/// Walks over the bytes of a date.
struct DateReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Seconds since 1970; nil where there is no date.
  mutating func read() -> Int64? {
    skip { $0 <= 0x20 }
    let start = position
    if let year = digits() {
      let isParted = peek == UInt8(ascii: "-") || peek == UInt8(ascii: "/")
      if year.count == 4, isParted { return iso8601(year: year.value) }
      // "20240103".
      position = start + 4
      if year.count == 8 { return iso8601(year: year.value / 10_000) }
    }
    position = start
    return rfc822()
  }

  /// The rest of an ISO 8601 date after its year; month, day and time may be missing.
  private mutating func iso8601(year: Int) -> Int64? {
    var parts = DateParts(year: year)
    skip { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") }
    guard let month = digits(atMost: 2) else { return nil }
    parts.month = month.value
    skip { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") }
    if let day = digits(atMost: 2) { parts.day = day.value }
    skip { $0 | 0x20 == UInt8(ascii: "t") || $0 <= 0x20 || $0 == UInt8(ascii: ",") }
    clock(into: &parts, digitsPerPart: 2)
    parts.offset = zone() ?? 0
    return parts.seconds
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// "Wed, 03 Jan 2024 10:00:00 +0000", with any part but day, month and year missing, in nearly any order.
  private mutating func rfc822() -> Int64? {
    var parts = DateParts()
    var (day, month, year): (Int?, Int?, Int?) = (nil, nil, nil)
    var (hasClock, isMonthFirst) = (false, false)
    while let byte = peek, year == nil || !hasClock {
      if isLetter(byte) {
        let word = letters()
        if let place = Self.months.firstIndex(where: { word.starts(with: $0.utf8) }) {
          // A word before the day may be a weekday ("Mar, 05 Aug 2014").
          if month == nil || day != nil && year == nil { (month, isMonthFirst) = (place + 1, day == nil) }
        } else if isMonthFirst, day != nil, year == nil, word.count > 2 {
          // That word was a weekday, and this one is a month of another language.
          return nil
        }
      } else if isDigit(byte) {
        let start = position
        guard let (number, count) = digits() else { return nil }
        if peek == UInt8(ascii: ":"), !hasClock {
          position = start
          clock(into: &parts, digitsPerPart: 4)
          parts.offset = zone() ?? 0
          hasClock = true
        } else if count <= 2, day == nil || month == nil && year == nil {
          day = number
        } else if year == nil {
          // 50 to 99 are the last century's, three digits count from 1900 (RFC 5322 §4.3).
          year = number + (count <= 2 && number < 50 ? 2000 : count <= 3 ? 1900 : 0)
        }
      } else {
        position += 1
      }
    }
    guard let day, let month, let year else { return nil }
    (parts.year, parts.month, parts.day) = (year, month, day)
    return parts.seconds
  }

  /// "10:00", "10:00:00", "10:00:00.123", "1000", also with "AM" or "PM" after it.
  private mutating func clock(into parts: inout DateParts, digitsPerPart: Int) {
    guard let hour = digits(atMost: digitsPerPart) else { return }
    parts.hour = hour.value
    skip { $0 == UInt8(ascii: ":") }
    if let minute = digits(atMost: digitsPerPart) { parts.minute = minute.value }
    if peek == UInt8(ascii: ":") || (peek.map(isDigit) ?? false) {
      skip { $0 == UInt8(ascii: ":") }
      if let second = digits(atMost: digitsPerPart) { parts.second = second.value }
    }
    if peek == UInt8(ascii: ".") || peek == UInt8(ascii: ",") {
      position += 1
      _ = digits()
    }
    let start = position
    skip { $0 <= 0x20 }
    switch letters() {
    case [UInt8(ascii: "a"), UInt8(ascii: "m")]: if parts.hour == 12 { parts.hour = 0 }
    case [UInt8(ascii: "p"), UInt8(ascii: "m")]: if parts.hour < 12 { parts.hour += 12 }
    default: position = start
    }
  }

  /// "+0100", "-05:00", "+1", "GMT", "PDT", "GMT+0200", "(CET)"; nil where there is none that is known.
  private mutating func zone() -> Int? {
    skip { $0 <= 0x20 || $0 == UInt8(ascii: "(") }
    var named: Int?
    if let byte = peek, isLetter(byte) {
      named = DateParts.zones[String(decoding: letters(), as: UTF8.self)]
      if named != 0 { return named }
    }
    skip { $0 <= 0x20 }
    guard let sign = peek, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return named }
    position += 1
    if let second = peek, second == UInt8(ascii: "-") || second == UInt8(ascii: "+") { position += 1 }
    guard let first = digits(atMost: 4) else { return named }
    var offset = first.count <= 2 ? first.value * 3600 : first.value / 100 * 3600 + first.value % 100 * 60
    if first.count <= 2, peek == UInt8(ascii: ":") {
      position += 1
      offset += (digits(atMost: 2)?.value ?? 0) * 60
    }
    return sign == UInt8(ascii: "-") ? -offset : offset
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(_ matches: (UInt8) -> Bool) {
    while let byte = peek, matches(byte) { position += 1 }
  }

  private mutating func digits(atMost limit: Int = 9) -> (value: Int, count: Int)? {
    var value = 0
    var count = 0
    while count < limit, let byte = peek, isDigit(byte) {
      value = value * 10 + Int(byte - 48)
      count += 1
      position += 1
    }
    return count == 0 ? nil : (value, count)
  }

  private mutating func letters() -> [UInt8] {
    var word: [UInt8] = []
    while let byte = peek, isLetter(byte), word.count < 48 {
      word.append(byte < 0x80 ? byte | 0x20 : byte)
      position += 1
    }
    return word
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  private func isLetter(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
  }
}
