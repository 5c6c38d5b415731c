/// Reads dates as feeds and servers write them: RFC 822 and 2822 in all their variants (also HTTP's,
/// RFC 9110 §5.6.7), ISO 8601 and RFC 3339.
package enum DateText {
  /// - Returns: seconds since 1970, or nil where no date can be read.
  package static func seconds(_ text: String) -> Int64? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// - Returns: seconds since 1970; nil where no date can be read, and for the dates of programs that have none: the
  /// year 1, and the first second of 1970.
  package static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    var reader = DateReader(bytes)
    reader.skipBlanks()
    let year = reader.isoYear()
    let found = if let year { reader.iso8601(year: year) } else { reader.rfc822() }
    return found == 0 ? nil : found
  }
}

/// What a date is made of while it is read. Hours, minutes and seconds beyond their bounds count on, as
/// "24:28:20" does in real feeds.
struct DateParts {
  var year: Int
  var month: Int
  var day: Int
  var hour = 0
  var minute = 0
  var second = 0
  /// Seconds east of Greenwich.
  var offset = 0

  /// Seconds since 1970; nil where a part is out of all reason, as are years of other calendars.
  var seconds: Int64? {
    guard (1900...9999).contains(year), (1...12).contains(month), day >= 1, hour <= 48,
      day <= CivilDate(year: year, month: month, day: 1).daysInMonth, minute <= 999, second <= 9999,
      abs(offset) < 100 * 3600
    else { return nil }
    let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
    return Int64(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
  }
}
