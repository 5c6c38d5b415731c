internal import Glibc

/// Times in seconds since 1970, as people and ISO 8601 write them; always UTC, without leap seconds. Years before 0 and
/// after 9999 are shown as the nearest of these.
package enum CivilTime {
  /// "2024-01-03T10:00:00Z".
  package static func iso8601(_ time: Int64) -> String { text(time, "%04Y-%m-%dT%H:%M:%SZ") }

  /// "2024-01-03".
  package static func date(_ time: Int64) -> String { text(time, "%04Y-%m-%d") }

  /// The date in days since the year 0.
  package static func day(_ time: Int64) -> Int64 { shown(time) / 86_400 }

  /// 1830 at half past six in the evening.
  package static func hour(_ time: Int64) -> Int {
    let minute = Int(shown(time) % 86_400) / 60
    return minute / 60 * 100 + minute % 60
  }

  /// "Wed, 03 Jan 2024 10:00:00 +0000", as feeds and OPML have dates (RFC 5322 §3.3).
  package static func rfc822(_ time: Int64) -> String { text(time, "%a, %d %b %04Y %H:%M:%S +0000") }

  /// "Sun, 06 Nov 1994 08:49:37 GMT", as header fields have dates (RFC 9110 §5.6.7).
  package static func http(_ time: Int64) -> String { text(time, "%a, %d %b %04Y %H:%M:%S GMT") }

  /// When the year 0 begins, in seconds since 1970.
  private static let start: Int64 = -62_167_219_200

  /// The seconds between the beginning of the year 0 and a time. Times outside of the years 0 to 9999 are moved to their edge.
  private static func shown(_ time: Int64) -> Int64 { min(max(time, start), 253_402_300_799) - start }

  /// The words are those of the C locale: no program sets another one.
  private static func text(_ time: Int64, _ format: String) -> String {
    var time = time_t(shown(time) + start)
    var parts = tm()
    gmtime_r(&time, &parts)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      let count = buffer.baseAddress.map { strftime($0, buffer.count, format, &parts) } ?? 0
      return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
    }
  }

  /// A number that is not negative, with zeros before it.
  package static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

extension StringProtocol {
  /// The number that a text of decimal digits alone stands for; nil for any other text, and for more than 18 digits.
  package var wholeNumber: Int64? {
    utf8.count <= 18 && utf8.allSatisfy { (48...57).contains($0) } ? Int64(self) : nil
  }
}
