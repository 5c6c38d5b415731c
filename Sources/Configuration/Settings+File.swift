internal import Glibc
internal import PodcastModel
internal import PosixKit

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
    case sync(String)
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
    let (isKnown, place, keys): (Bool, String, [OptionHelp])
    switch section {
    case .none:
      isKnown = try Self.options.set(key, value, in: &self) ? true : mountOptions.take(key, value)
      (place, keys) = ("", OptionHelp.all.filter { $0.place != .mountOnly })
    case .feed(let url):
      isKnown = try FeedSettings.options.set(key, value, in: &feeds[url, default: FeedSettings()])
      (place, keys) = (" in a [feed] section", FeedSettings.options.map(\.help))
    case .subscriptions:
      isKnown = try SubscriptionRules.options.set(key, value, in: &rules)
      (place, keys) = (" in [subscriptions]", SubscriptionRules.options.map(\.help))
    case .sync(let url):
      var settings = sync ?? SyncSettings(url: url)
      isKnown = try SyncSettings.options.set(key, value, in: &settings)
      sync = settings
      (place, keys) = (" in the [sync] section", SyncSettings.options.map(\.help))
    }
    if !isKnown {
      throw SettingsError("unknown key\(place): \(key)\(SimilarWord.question(key, among: keys.map(\.key)))")
    }
  }

  private mutating func begin(_ line: String) throws(SettingsError) -> Section {
    let inner = line.hasSuffix("]") ? Self.trimmed(line.dropFirst().dropLast()) : ""
    if inner == "subscriptions" { return .subscriptions }
    let name = ["feed", "sync"].first { inner.hasPrefix($0) }
    let quoted = name.map { Self.trimmed(inner.dropFirst($0.count)) } ?? ""
    guard let name, quoted.count > 2, quoted.first == "\"", quoted.last == "\"" else {
      throw SettingsError(
        "unknown section: \(line) (there are [feed \"URL\"], [subscriptions] and [sync \"URL\"])")
    }
    let text = String(quoted.dropFirst().dropLast())
    guard let url = Form.address.read(text) else {
      throw SettingsError("\(name)=\(text) is not valid: it takes \(Form.address.words)")
    }
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
    return .sync(url)
  }

  private static func trimmed(_ text: Substring) -> String {
    let text = text.drop(while: \.isWhitespace)
    return String(text.prefix(text.count - text.reversed().prefix(while: \.isWhitespace).count))
  }
}

extension Settings {
  /// The settings in force: the defaults, then the configuration file where there is one, then the
  /// environment (`PODCASTFS_SEARCH_URL`), then the option lists, later ones over earlier ones.
  /// - Parameter options: the texts of all `-o`.
  /// - Returns: the settings, and the options that are for FUSE and mount(8).
  /// - Throws: `SettingsError` for an unknown key or a wrong value, with file and line.
  package static func load(
    file: String, environment: [String: String], options: [String] = []
  ) throws(SettingsError) -> (settings: Settings, mount: MountOptions) {
    var settings = Settings()
    if let text = try contents(file) { try settings.read(text, name: file) }
    if let address = environment["PODCASTFS_SEARCH_URL"], !address.isEmpty {
      _ = try Settings.options.set("search_url", address, in: &settings)
    }
    settings.proxyVariables = environment.filter { Self.proxyNames.contains($0.key) }
    var mount = settings.mountOptions
    for option in options.flatMap({ OptionList($0).options }) {
      if try Settings.options.set(option.key, option.value, in: &settings) { continue }
      if try !mount.take(option) {
        let question = SimilarWord.question(option.key, among: OptionHelp.all.map(\.key))
        throw SettingsError("unknown option: \(option.key)\(question)")
      }
    }
    return (settings, mount)
  }

  /// How the environment names proxies (libcurl-env(3)). `HTTP_PROXY` is not among them: in a CGI the client sets it.
  private static let proxyNames: Set<String> = [
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]

  private static func contents(_ file: String) throws(SettingsError) -> String? {
    do {
      // A fifo in its place must not block; /dev/null counts as an empty file.
      let opened = try FileDescriptor(opening: file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let kind = try opened.status().st_mode & S_IFMT
      guard kind == S_IFREG || kind == S_IFCHR else {
        throw PosixError(.EINVAL, "open (not a regular file)", file)
      }
      return String(decoding: try Directories.read(file, limit: 1 << 20), as: UTF8.self)
    } catch let error as PosixError where error.errno == .ENOENT || error.errno == .ENOTDIR {
      return nil
    } catch {
      throw SettingsError("\(error)")
    }
  }
}
