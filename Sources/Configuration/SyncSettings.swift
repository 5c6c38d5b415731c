/// The server to synchronize with, as the configuration file has it: `[sync "URL"]`.
package struct SyncSettings: Hashable, Sendable {
  /// Without a slash at its end.
  package var url: String
  /// Which protocol it speaks; nil where it is to be asked.
  package var kind: Kind?
  package var user: String?
  package var password: String?
  /// A shell command whose first line of output is the password.
  package var passwordCommand: String?
  /// What the server calls this device; nil for one made from the host's name.
  package var device: String?
  /// Seconds.
  package var every = 900
  package var feeds = Feeds.public

  package enum Kind: String, Sendable, CaseIterable { case gpodder, nextcloud }

  package enum Feeds: String, Sendable, CaseIterable {
    /// Those without credentials and tokens.
    case `public`
    case all
  }

  package init(url: String) {
    self.url = url
    while self.url.hasSuffix("/") { self.url.removeLast() }
  }

  package static let options: [Option<SyncSettings>] = [
    .init(
      "kind", "gpodder|nextcloud", "asked", "the protocol: gPodder's API 2, or Nextcloud's gPodder Sync",
      .section
    ) { $0.kind = try SettingValue.choice($1, $2, Kind.self) },
    .init("user", "NAME", nil, "your name on the server", .section) {
      $0.user = try SettingValue.line($1, $2)
    },
    .init("password", "TEXT", nil, "your password, or an app password", .section) {
      guard !$2.isEmpty, $2.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
        throw SettingsError("\($1) is not valid: it takes text on one line")
      }
      $0.password = $2
    },
    .init("password_command", "COMMAND", nil, "a command that prints the password", .section) {
      $0.passwordCommand = try SettingValue.line($1, $2)
    },
    .init(
      "device", "NAME", "podcastfs-HOSTNAME", "what the server calls this device (gPodder only)", .section
    ) {
      let isName = $2.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte & 0xDF) || "_.-".utf8.contains(byte)
      }
      guard !$2.isEmpty, isName else {
        throw SettingValue.bad($1, $2, "letters, digits, and the characters _ . -")
      }
      $0.device = $2
    },
    .init("every", "SECONDS", "900", "the time between synchronizations, 60 to 604800", .section) {
      $0.every = try SettingValue.number($1, $2, 60...604_800)
    },
    .init(
      "feeds", "public|all", "public",
      "which feeds the server learns; public: none whose address has a password or token", .section
    ) { $0.feeds = try SettingValue.choice($1, $2, Feeds.self) },
  ]

  mutating func set(_ key: String, _ value: String) throws(SettingsError) {
    guard let option = Self.options.first(where: { $0.help.key == key }) else {
      let question = SimilarWord.question(key, among: Self.options.map(\.help.key))
      throw SettingsError("unknown key in the [sync] section: \(key)\(question)")
    }
    try option.set(value, in: &self)
  }
}

extension SyncSettings {
  /// The text of a configuration file with these credentials in its section of the server to synchronize with. All else
  /// that is in the file stays, other keys of the section too where it is of the same server.
  package func written(into text: String) -> String {
    // The lines before the first section, then each section with its head.
    var sections: [[Substring]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if Self.words(line).hasPrefix("[") { sections.append([]) }
      sections[sections.count - 1].append(line)
    }
    let place = sections.firstIndex { Self.words($0.first ?? "").dropFirst().hasPrefix("sync") }
    let old = place.map { sections[$0] } ?? []
    let isSame = [url, url + "/"].contains { old.first?.contains("\"\($0)\"") == true }
    let kept = isSame ? old.dropFirst().filter { !Self.isOfCredentials($0) } : []
    var section = ["[sync \"\(url)\"]"]
    for (key, value) in [("kind", kind?.rawValue), ("user", user), ("password", password)] {
      if let value { section.append("\(key) = \"\(value)\"") }
    }
    let new = (section + kept.map(String.init)).map { Substring($0) }
    if let place {
      sections[place] = new + (place < sections.count - 1 && kept.last?.isEmpty != true ? [""] : [])
    } else {
      while sections[sections.count - 1].last?.isEmpty == true { sections[sections.count - 1].removeLast() }
      sections.append((sections == [[]] ? [] : [""]) + new)
    }
    let written = sections.joined().joined(separator: "\n")
    return written.hasSuffix("\n") ? written : written + "\n"
  }

  private static func words(_ line: Substring) -> Substring { line.drop { $0 == " " || $0 == "\t" } }

  private static func isOfCredentials(_ line: Substring) -> Bool {
    let key = words(line).prefix { $0 != "=" && $0 != " " && $0 != "\t" }
    return ["kind", "user", "password", "password_command"].contains(key)
  }
}
