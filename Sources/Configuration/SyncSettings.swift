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
      \.kind, Form.choice(Kind.self), .section),
    .init("user", "NAME", nil, "your name on the server", \.user, Form.line, .section),
    .init("password", "TEXT", nil, "your password, or an app password", \.password, Form.secret, .section),
    .init(
      "password_command", "COMMAND", nil, "a command that prints the password", \.passwordCommand, Form.line,
      .section),
    .init(
      "device", "NAME", "podcastfs-HOSTNAME", "what the server calls this device (gPodder only)", \.device,
      Form.device, .section),
    .init(
      "every", "SECONDS", "900", "the time between synchronizations, 60 to 604800", \.every,
      Form.number(60...604_800), .section),
    .init(
      "feeds", "public|all", "public",
      "which feeds the server learns; public: none whose address has a password or token", \.feeds,
      Form.choice(Feeds.self), .section),
  ]
}

extension SyncSettings {
  /// The text of a configuration file with these credentials in its section of the server to synchronize with. All else
  /// that is in the file stays, other keys of the section too where it is of the same server.
  package func written(into text: String) -> String {
    var (rest, kept): ([Substring], [Substring]) = ([], [])
    var (isInSection, isSame) = (false, false)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.drop { $0 == " " || $0 == "\t" }
      if words.hasPrefix("[") {
        isInSection = words.dropFirst().hasPrefix("sync")
        isSame = words.contains("\"\(url)\"") || words.contains("\"\(url)/\"")
        if isInSection { continue }
      }
      let key = words.prefix { $0 != "=" && $0 != " " && $0 != "\t" }
      let isReplaced = ["kind", "user", "password", "password_command", ""].contains(key)
      if !isInSection { rest.append(line) } else if isSame, !isReplaced { kept.append(line) }
    }
    while rest.last?.isEmpty == true { rest.removeLast() }
    if !rest.isEmpty { rest.append("") }
    rest.append("[sync \"\(url)\"]")
    for (key, value) in [("kind", kind?.rawValue), ("user", user), ("password", password)] {
      if let value { rest.append("\(key) = \"\(value)\"") }
    }
    return (rest + kept).joined(separator: "\n") + "\n"
  }
}
