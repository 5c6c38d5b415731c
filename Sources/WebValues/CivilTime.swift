/// Times in seconds since 1970, as people and ISO 8601 write them; always UTC, without leap seconds.
package enum CivilTime {
  /// "2024-01-03T10:00:00Z".
  package static func iso8601(_ secondsSinceEpoch: Int64) -> String {
    let (days, second) = split(secondsSinceEpoch)
    return "\(CivilDate(daysSinceEpoch: days))T\(clock(second))Z"
  }

  /// Whole days since 1970-01-01, and the second of that day, 0 to 86399.
  package static func split(_ secondsSinceEpoch: Int64) -> (days: Int, second: Int) {
    var days = Int(secondsSinceEpoch / 86_400)
    var second = Int(secondsSinceEpoch % 86_400)
    if second < 0 {
      second += 86_400
      days -= 1
    }
    return (days, second)
  }

  /// A number that is not negative, with zeros before it.
  package static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// "Wed, 03 Jan 2024 10:00:00 +0000", as feeds and OPML have dates (RFC 5322 §3.3).
  /// - Parameter zone: what stands for UTC.
  package static func rfc822(_ secondsSinceEpoch: Int64, zone: String = "+0000") -> String {
    let (days, second) = split(secondsSinceEpoch)
    let date = CivilDate(daysSinceEpoch: days)
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7 + 7) % 7]
    let month = MonthNames.english[date.month - 1]
    return
      "\(weekday), \(padded(date.day, 2)) \(month) \(padded(max(date.year, 0), 4)) \(clock(second)) \(zone)"
  }

  /// "Sun, 06 Nov 1994 08:49:37 GMT", as header fields have dates (RFC 9110 §5.6.7).
  package static func http(_ secondsSinceEpoch: Int64) -> String { rfc822(secondsSinceEpoch, zone: "GMT") }

  private static func clock(_ second: Int) -> String {
    padded(second / 3600, 2) + ":" + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2)
  }
}
