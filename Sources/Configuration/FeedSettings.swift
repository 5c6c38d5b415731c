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
      .init(
        "user_agent", "TEXT", nil, "the name that its requests are sent with", \.userAgent, Form.line,
        .section),
      .init(
        "refresh", "SECONDS", nil, "the time between its refreshes; at least 900", \.refresh, Form.refresh,
        .section),
    ] + SubscriptionRules.options.map { $0.within(\.rules) }
}

extension SubscriptionRules {
  static let options = Key.allCases.map { rule in
    Option<SubscriptionRules>(OptionHelp(rule.rawValue, rule.placeholder, nil, rule.purpose, .section)) {
      rules, text in
      (try? rules.set(rule, to: text)) == nil ? rule.form : nil
    }
  }
}
