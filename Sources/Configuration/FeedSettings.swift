package import PodcastModel

/// What the configuration file sets for one feed: `[feed "URL"]`.
package struct FeedSettings: Hashable, Sendable {
  package var userAgent: String?
  /// Seconds between its refreshes; at least 900.
  package var refresh: Int?
  /// They hold where the subscription has none of its own.
  package var rules = SubscriptionRules()

  package init() {}

  package static let options: [Option<FeedSettings>] =
    [
      .init("user_agent", "TEXT", nil, "the name that its requests are sent with", .section) {
        $0.userAgent = try SettingValue.line($1, $2)
      },
      .init("refresh", "SECONDS", nil, "the time between its refreshes; at least 900", .section) {
        $0.refresh = try SettingValue.refresh($1, $2)
      },
    ]
    + SubscriptionRules.Key.allCases.map { rule in
      .init(rule.rawValue, rule.placeholder, nil, rule.purpose, .section) { settings, key, value in
        do { try settings.rules.set(rule, to: value) } catch {
          throw SettingValue.bad(key, value, rule.form)
        }
      }
    }

  mutating func set(_ key: String, _ value: String) throws(SettingsError) {
    guard let option = Self.options.first(where: { $0.help.key == key }) else {
      throw SettingsError("unknown key in a [feed] section: \(key)")
    }
    try option.set(value, in: &self)
  }
}
