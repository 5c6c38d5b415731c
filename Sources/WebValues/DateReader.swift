/// Walks over the bytes of a date.
struct DateReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  mutating func skipBlanks() {
    while let byte = peek, byte <= 0x20 { position += 1 }
  }

  /// The year of a date that begins "2024-" or "20240103".
  mutating func isoYear() -> Int? {
    let start = position
    guard let digits = digits(), digits.count == 4 || digits.count == 8 else {
      position = start
      return nil
    }
    if digits.count == 8 {
      position = start + 4
      return digits.value / 10_000
    }
    guard let next = peek, next == UInt8(ascii: "-") || next == UInt8(ascii: "/") else {
      position = start
      return nil
    }
    return digits.value
  }

  /// The rest of an ISO 8601 date after its year; month, day and time may be missing.
  mutating func iso8601(year: Int) -> Int64? {
    var parts = DateParts(year: year, month: 1, day: 1)
    skip { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") }
    guard let month = digits(atMost: 2) else { return nil }
    parts.month = month.value
    skip { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") }
    if let day = digits(atMost: 2) { parts.day = day.value }
    guard CivilDate(year: parts.year, month: parts.month, day: 1).daysInMonth >= parts.day else { return nil }
    skip { $0 | 0x20 == UInt8(ascii: "t") || $0 <= 0x20 || $0 == UInt8(ascii: ",") }
    clock(into: &parts, digitsPerPart: 2)
    parts.offset = zone() ?? 0
    return parts.seconds
  }

  /// "Wed, 03 Jan 2024 10:00:00 +0000", with any part but day, month and year missing, in nearly any order and in
  /// many languages; also "2025년 11월 4일" and "04 tháng 11 2025".
  /// - Returns: nil also where a word stands between bare numbers that it may give another meaning.
  mutating func rfc822() -> Int64? {
    var found = FoundParts()
    while let byte = peek, found.year == nil || found.clock == nil {
      if isLetter(byte) {
        take(letters(), &found)
      } else if isDigit(byte) {
        let start = position
        guard let number = digits() else { return nil }
        if peek == UInt8(ascii: ":"), found.clock == nil {
          position = start
          var parts = DateParts(year: 1970, month: 1, day: 1)
          clock(into: &parts, digitsPerPart: 4)
          if found.isAfternoon, parts.hour < 12 { parts.hour += 12 }
          parts.offset = zone() ?? 0
          found.clock = parts
        } else {
          found.take(number.value, digits: number.count, unit: unit())
        }
      } else {
        position += 1
      }
    }
    return found.seconds
  }

  private mutating func take(_ word: [UInt8], _ found: inout FoundParts) {
    switch String(decoding: word, as: UTF8.self) {
    // "Th11" is a month; of "Th 3, 17 thg 11" the first number is a weekday's, which gives way to the month.
    case "th" where peek.map(isDigit) == true: found.take(month: digits()?.value)
    case "tháng", "thg":
      skipBlanks()
      found.take(month: digits()?.value)
    case "تشرين", "كانون":
      skipBlanks()
      found.take(month: MonthNames.levantine(String(decoding: word, as: UTF8.self), letters()))
    case "t" where peek.map(isDigit) == true: _ = digits()
    case "thứ":
      skipBlanks()
      _ = digits()
    case "오후", "下午", "午後": found.isAfternoon = true
    default: found.take(word)
    }
  }

  /// What a number is that has one of these characters behind it: year, month or day.
  private mutating func unit() -> FoundParts.Unit? {
    guard let byte = peek, byte >= 0x80, position + 3 <= bytes.count else { return nil }
    let unit = FoundParts.units[String(decoding: bytes[position..<position + 3], as: UTF8.self)]
    if unit != nil { position += 3 }
    return unit
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
    skipBlanks()
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
      named = TimeZoneNames.offset(letters())
      if named != 0 { return named }
    }
    skipBlanks()
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

  /// A word in lower case.
  private mutating func letters() -> [UInt8] {
    var word: [UInt8] = []
    var isASCII = true
    while let byte = peek, isLetter(byte), word.count < 48 {
      if byte >= 0x80 { isASCII = false }
      word.append(byte < 0x80 ? byte | 0x20 : byte)
      position += 1
    }
    return isASCII ? word : Array(String(decoding: word, as: UTF8.self).lowercased().utf8)
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  private func isLetter(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
  }
}

/// The parts of a date as they come, in any order.
private struct FoundParts {
  enum Unit { case year, month, day }

  static let units: [String: Unit] = [
    "년": .year, "年": .year, "월": .month, "月": .month, "일": .day, "日": .day,
  ]

  /// Where the month's number comes from.
  private enum MonthSource { case word, wordBeforeDay, bareNumber }

  private(set) var year: Int?
  var clock: DateParts?
  var isAfternoon = false
  private var month: Int?
  private var day: Int?
  private var source = MonthSource.word
  private var yearHasTwoDigits = false
  /// A word between the numbers that was not understood.
  private var hasStrayWord = false
  private var isCroatian = false

  mutating func take(_ word: [UInt8]) {
    isCroatian = isCroatian || MonthNames.isCroatianWeekday(word)
    take(month: MonthNames.number(word, isCroatian: isCroatian), isOrdinal: word.count < 3)
  }

  /// Takes what a word says.
  /// - Parameters:
  ///   - number: nil for a word that names no month.
  ///   - isOrdinal: it is too short to be a month: "4th", "4 de".
  mutating func take(month number: Int?, isOrdinal: Bool = false) {
    guard let number else {
      let isWithin = (day != nil || year != nil) && (day == nil || month == nil || year == nil)
      if isWithin, !isOrdinal { hasStrayWord = true }
      return
    }
    // Before the day it may be a weekday ("mar., 05 août 2014"); a number before it was the day ("3ª feira, 04 de").
    if month != nil {
      guard day != nil, source != .word else { return }
      if source == .bareNumber { day = month }
    }
    month = number
    source = day == nil && year == nil ? .wordBeforeDay : .word
  }

  mutating func take(_ value: Int, digits: Int, unit: Unit?) {
    switch unit {
    case .year: year = value
    case .month: (month, source) = (value, .word)
    case .day: day = value
    case nil where day == nil && digits <= 2: day = value
    case nil where year == nil && month == nil && digits <= 2:
      // "03/01/2024" and "03.01.2024": day, month, year.
      month = value
      source = .bareNumber
    case nil where year == nil:
      year = Self.century(value, digits: digits)
      yearHasTwoDigits = digits <= 2
    case nil where month == nil && digits <= 2:
      // "2024. 11. 17.": year, month, day.
      (month, day, source) = (day, value, .bareNumber)
    case nil where yearHasTwoDigits && digits == 4 && source == .wordBeforeDay:
      // "mar. 17.11.2024": the word was a weekday.
      (month, year, source) = (year.map { $0 % 100 }, value, .bareNumber)
    case nil: break
    }
  }

  /// Seconds since 1970; nil where a word may give the numbers another meaning, and for a day that its month has not.
  var seconds: Int64? {
    guard var day, var month, let year, source == .word || !hasStrayWord else { return nil }
    // "01/25/2024" can only be the American order.
    if source == .bareNumber, month > 12, day <= 12 { swap(&day, &month) }
    var parts = clock ?? DateParts(year: 1970, month: 1, day: 1)
    (parts.year, parts.month, parts.day) = (year, month, day)
    return parts.seconds
  }

  /// A year of two digits: 50 to 99 are the last century's, three count from 1900 (RFC 5322 §4.3).
  private static func century(_ value: Int, digits: Int) -> Int {
    switch digits {
    case 1, 2: value + (value < 50 ? 2000 : 1900)
    case 3: value + 1900
    default: value
    }
  }
}
