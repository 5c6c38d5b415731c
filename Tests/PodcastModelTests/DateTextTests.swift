import PodcastModel
import TestSupport
import Testing

@Suite struct DateTextTests {
  @Test(arguments: [
    ("Wed, 03 Jan 2024 10:00:00 +0000", "2024-01-03T10:00:00Z"),
    ("Wed, 3 Jan 2024 10:00:00 GMT", "2024-01-03T10:00:00Z"),
    ("Mon, 03 Jan 2024 10:00:00 EST", "2024-01-03T15:00:00Z"),
    ("3 January 24 10:00 PDT", "2024-01-03T17:00:00Z"),
    ("Wed,03 Jan 2024 10:00:00+0100", "2024-01-03T09:00:00Z"),
    ("Wed, 03 Jan 2024 10:00:00 -05:30", "2024-01-03T15:30:00Z"),
    ("  Wed,\n 03  Jan 2024\t10:00:00   UT ", "2024-01-03T10:00:00Z"),
    ("Wed, 03 Jan 2024", "2024-01-03T00:00:00Z"),
    ("Wed Jan  3 10:00:00 2024", "2024-01-03T10:00:00Z"),
    ("Wednesday, 03-Jan-24 10:00:00 GMT", "2024-01-03T10:00:00Z"),
    ("03 Jan 99 10:00:00 Z", "1999-01-03T10:00:00Z"),
    ("Mar, 05 Aug 2014 10:00:00 +0200", "2014-08-05T08:00:00Z"),
    ("Sat, 07 Mar 2009 24:28:20 CST", "2009-03-08T06:28:20Z"),
    ("Wed, 12 Aug 2020 12:51:36 -5100", "2020-08-14T15:51:36Z"),
    ("January 3, 2024 10:05 PM", "2024-01-03T22:05:00Z"),
    ("2024-01-03T10:00:00Z", "2024-01-03T10:00:00Z"),
    ("2024-01-03T10:00:00.123+02:00", "2024-01-03T08:00:00Z"),
    ("2024-01-03 10:00:00 -0500", "2024-01-03T15:00:00Z"),
    ("2024-01-03T10:00", "2024-01-03T10:00:00Z"),
    ("2024-01-03", "2024-01-03T00:00:00Z"),
    ("2024-01", "2024-01-01T00:00:00Z"),
    ("20240103T100000Z", "2024-01-03T10:00:00Z"),
    ("20240103", "2024-01-03T00:00:00Z"),
  ])
  func `A date is read in every form that feeds have`(text: String, expected: String) {
    #expect(DateText.seconds(text).map(CivilTime.iso8601) == expected)
  }

  @Test(arguments: [
    ("3ª feira, 17 Nov 2024", 11), ("Nov 17th 2024", 11), ("Mar 17, 24", 3), ("17. March 2024", 3),
  ])
  func `A month is known by its first three letters`(text: String, month: Int) {
    #expect(
      DateText.seconds(text).map(CivilTime.date) == "2024-\(month < 10 ? "0" : "")\(month)-17", "\(text)")
  }

  @Test(arguments: [
    "Tue, 31 Feb 2024 12:00:00 GMT", "31/02/2024", "31 June 2024", "29 Feb 2023", "mar, 17 gaillard 2024",
    "04 wort 11 2025 10:00", "13/08/1404 10:00", "화, 4 11월 2025 10:25:41 +0000",
    "", "   ", "yesterday", "2024", "99", "Wed, 03 Foo 2024", "Wed, 45 Jan 2024 10:00:00", "2024-13-01",
    "2024-02-30", "0000-00-00 00:00:00", "12345678901234567890", "Jan 2024", "\u{1F600}",
    "Thu, 01 Jan 10000000000000 00:00:00 GMT", "-------", "::::", "Mon, 01 Jan 0001 00:00:00 GMT",
    "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 +0000", "0",
  ])
  func `What is no date is none`(text: String) {
    #expect(DateText.seconds(text) == nil)
  }

  @Test func `RFC 822 dates are written so that they are read again`() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let seconds = Int64.random(in: -2_000_000_000...5_000_000_000, using: &random)
      #expect(DateText.seconds(CivilTime.rfc822(seconds)) == seconds)
      #expect(DateText.seconds(CivilTime.iso8601(seconds)) == seconds)
    }
    #expect(CivilTime.rfc822(1_704_276_000) == "Wed, 03 Jan 2024 10:00:00 +0000")
  }

  @Test(arguments: [
    ("1:02:03", 3723), ("02:03", 123), ("3723", 3723), ("104:35", 6275), ("00:49.53", 49), ("5711.0", 5711),
    (" 10:00 ", 600), ("0", nil), ("1:2:3", 3723), ("", nil), ("abc", nil), ("1:2:3:4", nil), ("10 min", 600),
    ("-5", nil), ("99999999999999999999", nil), (":", nil), ("1 2", nil), ("00:00:00", nil),
    ("1h, 5m", 3900),

    ("1h 20m", 4800), ("1H20M5S", 4805), ("45m", 2700),
    ("1,5", 1), ("12,34", 12), ("1:02,345", 62), ("1,2,3", nil), (",123", nil), ("1,234 5", nil),
    ("0h", nil), ("PT", nil), ("h", nil), ("20m 1h", nil), ("1h 20", 4800), ("5 mins", 300), ("1h20", 4800),
    ("90 min", 5400), ("90min.", nil),
    ("1 hour, 5 minutes", 3900), ("1 hr 5 min 3 sec", 3903), ("5m30", 330), ("20m 1h", nil), ("min", nil),
    ("5 minus", nil),
    ("1d 5", nil), ("1s5", nil), ("99999999h", nil), ("1m1m", nil),
  ])
  func `A duration is read, or is none`(text: String, expected: Int?) {
    #expect(DurationText.seconds(text) == expected)
  }
}
