/// What the configuration file sets for one feed: `[feed "URL"]`.
package struct FeedSettings: Hashable, Sendable {
  package var userAgent: String?
  /// Seconds between its refreshes; at least 900.
  package var refresh: Int?
  /// Which new episodes are downloaded before anybody opens them, and kept.
  package var keep: Keep?

  package enum Keep: Hashable, Sendable {
    case newest(Int)
    case days(Int)
  }

  package init() {}

  package static let options: [Option<FeedSettings>] = [
    .init("user_agent", "TEXT", nil, "what its requests are sent as", .section) {
      $0.userAgent = try SettingValue.line($1, $2)
    },
    .init("refresh", "SECONDS", nil, "between its refreshes; below 900 means 900", .section) {
      $0.refresh = try SettingValue.refresh($1, $2)
    },
    .init(
      "keep", "N|Nd", nil,
      "the newest N episodes, or those of N days, are downloaded before anybody opens them", .section
    ) {
      $0.keep =
        $2.hasSuffix("d")
        ? .days(try SettingValue.number($1, String($2.dropLast()), 1...36_500))
        : .newest(try SettingValue.number($1, $2, 1...10_000))
    },
  ]

  mutating func set(_ key: String, _ value: String) throws(SettingsError) {
    guard let option = Self.options.first(where: { $0.help.key == key }) else {
      throw SettingsError("unknown key in a feed's section: \(key)")
    }
    try option.set(value, in: &self)
  }
}
