extension Settings {
  /// Reads the text of a configuration file: `key = value` lines, `#` before comments, and sections
  /// `[feed "URL"]` with settings for one feed. Double quotes around a value keep blanks at its ends.
  /// - Parameter name: the file's, for errors.
  mutating func read(_ text: String, name: String) throws(SettingsError) {
    var feed: String?
    // A line's end is the byte: "\r\n" is one Character.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, bytes) in lines.enumerated() {
      let line = Self.trimmed(Substring(bytes).drop { $0 == "\u{feff}" })
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(SettingsError) {
        if line.hasPrefix("[") {
          let url = try Self.section(line)
          feeds[url] = feeds[url] ?? FeedSettings()
          feed = url
        } else {
          try assign(line, feed)
        }
      } catch {
        throw error.at("\(name):\(index + 1)")
      }
    }
  }

  private mutating func assign(_ line: String, _ feed: String?) throws(SettingsError) {
    guard let equals = line.firstIndex(of: "=") else {
      throw SettingsError("not understood: \(line) (a line is KEY = VALUE)")
    }
    let key = Self.trimmed(line[..<equals])
    var value = Self.trimmed(line[line.index(after: equals)...])
    if value.count >= 2, value.first == "\"", value.last == "\"" {
      value = String(value.dropFirst().dropLast())
    }
    if let feed {
      var settings = feeds[feed] ?? FeedSettings()
      try settings.set(key, value)
      feeds[feed] = settings
      return
    }
    if try !set(key, value, from: [.anywhere, .fileOnly]) {
      let keys = Self.options.map(\.help.key)
      throw SettingsError("unknown key: \(key)\(SimilarWord.question(key, among: keys))")
    }
  }

  /// The address in `[feed "URL"]`.
  private static func section(_ line: String) throws(SettingsError) -> String {
    let inner = line.hasSuffix("]") ? trimmed(line.dropFirst().dropLast()) : ""
    let quoted = inner.hasPrefix("feed") ? trimmed(inner.dropFirst(4)) : ""
    guard quoted.count > 2, quoted.first == "\"", quoted.last == "\"" else {
      throw SettingsError("unknown section: \(line) (there is [feed \"URL\"])")
    }
    return try SettingValue.address("feed", String(quoted.dropFirst().dropLast()))
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
