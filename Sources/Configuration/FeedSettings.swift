/// What the configuration file sets for one feed: `[feed "URL"]`.
package struct FeedSettings: Hashable, Sendable {
  package var userAgent: String?
  /// Seconds between its refreshes; at least 900.
  package var refresh: Int?
  /// Which new episodes are downloaded before anybody opens them, and kept.
  package var keep: Keep?

  package enum Keep: Hashable, Sendable {
    /// The newest so many.
    case newest(Int)
    /// Those of the last so many days.
    case days(Int)
  }

  package init() {}

  /// Takes a line of the section.
  mutating func set(_ key: String, _ value: String) throws(SettingsError) {
    switch key {
    case "user_agent": userAgent = try SettingValue.line(key, value)
    case "refresh": refresh = max(try SettingValue.number(key, value, 0...Int(Int32.max)), 900)
    case "keep":
      if value.hasSuffix("d") {
        keep = .days(try SettingValue.number(key, String(value.dropLast()), 1...36_500))
      } else {
        keep = .newest(try SettingValue.number(key, value, 1...10_000))
      }
    default: throw SettingsError("unknown key in a feed's section: \(key)")
    }
  }
}
