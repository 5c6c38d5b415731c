internal import PodcastModel

extension Settings {
  /// Reads the text of a configuration file: `key = value` lines, `#` before comments, and sections: `[feed "URL"]` with
  /// settings for one feed, `[subscriptions]` with rules for all, `[sync "URL"]` for the server to synchronize with.
  /// Double quotes around a value keep blanks at its ends.
  /// - Parameter name: the file's, for errors.
  mutating func read(_ text: String, name: String) throws(SettingsError) {
    var section = Section.none
    // A line's end is the byte: "\r\n" is one Character.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, bytes) in lines.enumerated() {
      let line = Self.trimmed(Substring(bytes).drop { $0 == "\u{feff}" })
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(SettingsError) {
        if line.hasPrefix("[") {
          section = try begin(line)
        } else {
          try assign(line, in: section)
        }
      } catch {
        throw error.at("\(name):\(index + 1)")
      }
    }
  }

  private enum Section {
    /// Before the first one.
    case none
    case feed(String)
    case subscriptions
    case sync
  }

  private mutating func assign(_ line: String, in section: Section) throws(SettingsError) {
    guard let equals = line.firstIndex(of: "=") else {
      throw SettingsError("not understood: \(line) (a line is KEY = VALUE)")
    }
    let key = Self.trimmed(line[..<equals])
    var value = Self.trimmed(line[line.index(after: equals)...])
    // Those of a phrase are its own.
    let keepsQuotes =
      key == SubscriptionRules.Key.include.rawValue || key == SubscriptionRules.Key.exclude.rawValue
    if !keepsQuotes, value.count >= 2, value.first == "\"", value.last == "\"" {
      value = String(value.dropFirst().dropLast())
    }
    switch section {
    case .feed(let url): return try feeds[url, default: FeedSettings()].set(key, value)
    case .subscriptions: return try setRule(key, value)
    case .sync:
      try sync?.set(key, value)
      return
    case .none: break
    }
    if try set(key, value, from: [.anywhere, .fileOnly]) { return }
    if try !mountOptions.take(key, value) {
      let keys = OptionHelp.all.filter { $0.place != .mountOnly }.map(\.key)
      throw SettingsError("unknown key: \(key)\(SimilarWord.question(key, among: keys))")
    }
  }

  /// A rule for all subscriptions.
  private mutating func setRule(_ key: String, _ value: String) throws(SettingsError) {
    let keys = SubscriptionRules.Key.allCases.map(\.rawValue)
    guard let rule = SubscriptionRules.Key(rawValue: key) else {
      throw SettingsError("unknown key in [subscriptions]: \(key)\(SimilarWord.question(key, among: keys))")
    }
    do { try rules.set(rule, to: value) } catch { throw SettingValue.bad(key, value, rule.form) }
  }

  /// Begins the section that a line `[NAME "URL"]` names.
  private mutating func begin(_ line: String) throws(SettingsError) -> Section {
    let inner = line.hasSuffix("]") ? Self.trimmed(line.dropFirst().dropLast()) : ""
    if inner == "subscriptions" { return .subscriptions }
    let name = ["feed", "sync"].first { inner.hasPrefix($0) }
    let quoted = name.map { Self.trimmed(inner.dropFirst($0.count)) } ?? ""
    guard let name, quoted.count > 2, quoted.first == "\"", quoted.last == "\"" else {
      throw SettingsError(
        "unknown section: \(line) (there are [feed \"URL\"], [subscriptions] and [sync \"URL\"])")
    }
    let url = try SettingValue.address(name, String(quoted.dropFirst().dropLast()))
    if name == "feed" {
      feeds[url] = feeds[url] ?? FeedSettings()
      return .feed(url)
    }
    let place = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
    if place.contains("@") {
      throw SettingsError(
        "the server's address has a name or password: put them in the keys user and password")
    }
    guard sync == nil else {
      throw SettingsError("there are two [sync] sections: podcastfs synchronizes with one server")
    }
    sync = SyncSettings(url: url)
    return .sync
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let first = text.unicodeScalars.first, first.properties.isWhitespace {
      text.unicodeScalars.removeFirst()
    }
    while let last = text.unicodeScalars.last, last.properties.isWhitespace {
      text.unicodeScalars.removeLast()
    }
    return String(text)
  }
}
