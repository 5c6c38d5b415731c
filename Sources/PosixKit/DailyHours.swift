internal import Glibc

/// Some hours of each day by the local clock, like 22:00 to 06:00.
package struct DailyHours: Hashable, Sendable {
  /// Minutes since midnight. An end that is not after the start is the next day's.
  package var start: Int
  package var end: Int

  package init(start: Int, end: Int) { (self.start, self.end) = (start, end) }

  /// Whether the hours contain a minute of the day.
  package func contains(_ minute: Int) -> Bool {
    start < end ? start <= minute && minute < end : start <= minute || minute < end
  }

  /// "22:00".
  package var startText: String { Self.text(start) }

  /// "22:00-06:00".
  package var text: String { "\(Self.text(start))-\(Self.text(end))" }

  private static func text(_ minute: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minute / 60)):\(two(minute % 60))"
  }

  /// Seconds until the hours begin or end, whichever comes first.
  /// - Parameter second: of the day. In the night that changes the clocks it may come an hour early or late, and is asked
  ///   for again.
  package func secondsUntilChange(at second: Int) -> Int {
    [start, end].map { ($0 * 60 - second + 86_399) % 86_400 + 1 }.min() ?? 86_400
  }

  /// The second of the day at a time since 1970, in the local time zone.
  package static func secondOfDay(_ time: Int64) -> Int {
    var (time, parts) = (time_t(time), tm())
    // The zone may have changed since.
    tzset()
    localtime_r(&time, &parts)
    return Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(min(parts.tm_sec, 59))
  }
}
