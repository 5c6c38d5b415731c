internal import Glibc

/// Reads dates as feeds and servers write them: RFC 822 and 2822 in all their variants (also HTTP's,
/// RFC 9110 §5.6.7), ISO 8601 and RFC 3339.
package enum DateText {
  package static func seconds(_ text: String) -> Int64? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// - Returns: seconds since 1970; nil where no date can be read, and for the dates of programs that have none: the
  /// year 1, and the first second of 1970.
  package static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    var reader = DateReader(bytes)
    let found = reader.read()
    return found == 0 ? nil : found
  }

  /// Reads "2026-01-31" and no other form.
  /// - Returns: the day's first second.
  package static func day(_ text: String) -> Int64? {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.map(\.count) == [4, 2, 2], parts.joined().allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    var text = text
    return text.withUTF8 { bytes in
      var reader = DateReader(bytes)
      return reader.read()
    }
  }
}

/// What a date is made of while it is read. Hours, minutes and seconds beyond their bounds count on, as
/// "24:28:20" does in real feeds.
struct DateParts {
  var year = 1970
  var month = 1
  var day = 1
  var hour = 0
  var minute = 0
  var second = 0
  /// Seconds east of Greenwich.
  var offset = 0

  /// Seconds since 1970; nil where a part is out of all reason, as are years of other calendars, and for a day that its
  /// month does not have.
  var seconds: Int64? {
    guard (1900...9999).contains(year), (1...12).contains(month), (1...31).contains(day), hour <= 48,
      minute <= 999, second <= 9999, abs(offset) < 100 * 3600
    else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
    let midnight = timegm(&date)
    return date.tm_mday == day ? Int64(midnight + hour * 3600 + minute * 60 + second - offset) : nil
  }
}

extension DateParts {
  /// Offsets of the zones that feeds name, in lower case: those of RFC 822 §5, and others that stand for one offset as
  /// good as everywhere.
  static let zones: [String: Int] = [
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "ast": -4, "adt": -3, "akst": -9, "akdt": -8, "hst": -10, "et": -5,
    "ct": -6, "mt": -7, "pt": -8, "brt": -3, "art": -3, "bst": 1, "west": 1, "cet": 1, "met": 1, "cest": 2,
    "mest": 2, "eet": 2, "eest": 3, "sast": 2, "msk": 3, "pkt": 5, "hkt": 8, "sgt": 8, "awst": 8, "jst": 9,
    "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
  ].mapValues { $0 * 3600 }.merging(["nst": -12_600, "ndt": -9000, "acst": 34_200, "acdt": 37_800]) { $1 }
}
