/// Dates of header fields (RFC 9110 §5.6.7), in seconds since 1970.
package enum HTTPDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Reads the three forms: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and
  /// "Sun Nov  6 08:49:37 1994". nil for anything else.
  package static func seconds(_ text: String) -> Int64? {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map { $0.lowercased() }
    guard words.count >= 5 else { return nil }
    let isAsctime = months.contains(words[1])
    let (day, month, year, clock) =
      isAsctime ? (words[2], words[1], words[4], words[3]) : (words[1], words[2], words[3], words[4])
    guard let day = Int(day), let month = months.firstIndex(of: month), var year = Int(year) else {
      return nil
    }
    // Two digits: the nearest century that is not far ahead.
    if year < 100 { year += year < 70 ? 2000 : 1900 }
    let fields = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    let date = CivilDate(year: year, month: month + 1, day: day)
    guard fields.count == 3, (0...23).contains(fields[0]), (0...59).contains(fields[1]),
      (0...60).contains(fields[2]), (1601...9999).contains(year), (1...date.daysInMonth).contains(day)
    else { return nil }
    let second = fields[0] * 3600 + fields[1] * 60 + fields[2]
    return Int64(date.daysSinceEpoch) * 86_400 + Int64(second)
  }

  /// Writes the preferred form: "Sun, 06 Nov 1994 08:49:37 GMT".
  package static func text(_ secondsSinceEpoch: Int64) -> String {
    CivilTime.rfc822(secondsSinceEpoch, zone: "GMT")
  }
}
