internal import PodcastModel

package enum HumanText {
  /// Bytes in powers of 1024, with three digits where there is a unit: "812 B", "1.25 MiB", "27.1 MiB".
  package static func size(_ bytes: Int64) -> String {
    if bytes < 1024 { return "\(max(bytes, 0)) B" }
    var value = Double(bytes)
    var unit = -1
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    // 999.5 would be rounded to four digits.
    while unit < 0 || (value >= 999.5 && unit < units.count - 1) {
      value /= 1024
      unit += 1
    }
    let decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
    return fixed(value, decimals) + " " + units[unit]
  }

  /// Seconds: "0:07", "3:20", "1:02:03", "2 d 5 h".
  package static func duration(_ seconds: Int64) -> String {
    let seconds = max(seconds, 0)
    if seconds >= 100 * 3600 { return "\(seconds / 86_400) d \(seconds / 3600 % 24) h" }
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, CivilTime.padded(Int(seconds % 60), 2))
    return hours > 0 ? "\(hours):\(CivilTime.padded(Int(minutes), 2)):\(rest)" : "\(minutes):\(rest)"
  }

  /// "1 episode", "2 episodes".
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A time in the past as "just now", "5 minutes ago", "3 days ago"; one in the future as "in 5 minutes".
  package static func ago(_ seconds: Int64) -> String {
    if abs(seconds) < 60 { return "just now" }
    return seconds < 0 ? "in \(span(-seconds))" : "\(span(seconds)) ago"
  }

  /// Seconds in the largest unit of which there are two or more: "90 seconds", "36 hours", "13 days", "8 months".
  package static func span(_ seconds: Int64) -> String {
    let units: [(length: Int64, name: String)] = [
      (31_536_000, "year"), (2_592_000, "month"), (604_800, "week"), (86_400, "day"), (3600, "hour"),
      (60, "minute"),
    ]
    let unit = units.first { seconds >= $0.length * 2 } ?? (60, "minute")
    return count(Int(seconds / unit.length), unit.name)
  }

  private static func fixed(_ value: Double, _ decimals: Int) -> String {
    let scale = [1, 10, 100][decimals]
    let scaled = Int((value * Double(scale)).rounded())
    if decimals == 0 { return "\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }
}
