extension Settings {
  /// Every option that takes a value; `notify` may stand alone.
  private enum Key: String, CaseIterable {
    case searchURL = "search_url"
    case country
    case searchLimit = "search_limit"
    case podcastIndexURL = "podcastindex_url"
    case fyydURL = "fyyd_url"
    case cacheSize = "cache_size"
    case minFree = "min_free"
    case catalogueSize = "catalogue_size"
    case downloads
    case perHost = "per_host"
    case limitRate = "limit_rate"
    case stallTimeout = "stall_timeout"
    case readTimeout = "read_timeout"
    case connectTimeout = "connect_timeout"
    case refresh
    case trigger
    case noTrigger = "no_trigger"
    case sidecars
    case latest
    case onComplete = "on_complete"
    case proxy
    case userAgent = "user_agent"
    case caFile = "ca_file"
  }

  /// The keys that `-o` and the configuration file share.
  package static var keys: [String] { Key.allCases.map(\.rawValue) + ["notify"] }

  /// Sets one option of Documentation/Configuration.md.
  /// - Parameter value: nil where only the key was given.
  /// - Returns: false where there is no option of that name.
  mutating func set(_ name: String, _ value: String?) throws(SettingsError) -> Bool {
    if name == "notify" {
      notifies = try SettingValue.flag(name, value)
      return true
    }
    guard let key = Key(rawValue: name) else { return false }
    guard let value else { throw SettingsError("\(name) needs a value: \(name)=…") }
    try set(key, value)
    return true
  }

  private mutating func set(_ key: Key, _ text: String) throws(SettingsError) {
    let name = key.rawValue
    switch key {
    case .searchURL: self.searchURL = try SettingValue.address(name, text)
    case .country: self.country = try Self.country(name, text)
    case .searchLimit: self.searchLimit = try SettingValue.number(name, text, 1...200)
    case .podcastIndexURL: self.podcastIndexURL = try SettingValue.address(name, text)
    case .fyydURL: self.fyydURL = try SettingValue.address(name, text)
    case .cacheSize: self.cacheSize = try SettingValue.size(name, text)
    case .catalogueSize: self.catalogueSize = try SettingValue.size(name, text)
    case .minFree: self.minimumFree = try SettingValue.size(name, text)
    case .downloads: self.downloads = try SettingValue.number(name, text, 1...64)
    case .perHost: self.perHost = try SettingValue.number(name, text, 1...64)
    case .limitRate: self.limitRate = try Self.rate(name, text)
    case .stallTimeout: self.stallTimeout = try SettingValue.seconds(name, text)
    case .readTimeout: self.readTimeout = try SettingValue.seconds(name, text)
    case .connectTimeout: self.connectTimeout = try SettingValue.seconds(name, text)
    case .refresh: self.refresh = max(try SettingValue.number(name, text, 0...Int(Int32.max)), 900)
    case .trigger: self.trigger = try SettingValue.choice(name, text, Trigger.self)
    case .noTrigger: self.noTrigger = Self.names(text)
    case .sidecars: self.sidecars = try Self.sidecars(name, text)
    case .latest: self.latest = try SettingValue.number(name, text, 0...10_000)
    case .onComplete: self.onComplete = text.isEmpty ? nil : try SettingValue.line(name, text)
    case .proxy: self.proxy = try Self.proxy(name, text)
    case .userAgent: self.userAgent = try SettingValue.line(name, text)
    case .caFile: self.certificateAuthorities = try SettingValue.line(name, text)
    }
  }

  /// Two letters (ISO 3166-1).
  private static func country(_ key: String, _ text: String) throws(SettingsError) -> String {
    let code = text.lowercased()
    guard code.utf8.count == 2, code.utf8.allSatisfy({ (97...122).contains($0) }) else {
      throw SettingValue.bad(key, text, "a country's two letters, like us or de")
    }
    return code
  }

  /// As libcurl takes it: the scheme may be missing.
  private static func proxy(_ key: String, _ text: String) throws(SettingsError) -> String {
    if text.isEmpty { return text }
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    let place = parts[parts.count - 1].split(separator: "/", omittingEmptySubsequences: false)[0]
    // Behind the password, which may have an "@".
    let host = place.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let colon = host.hasSuffix("]") ? nil : host.lastIndex(of: ":")
    let port = colon.map { host[host.index(after: $0)...] }
    let isHost = !host[..<(colon ?? host.endIndex)].isEmpty && !text.contains { $0.isWhitespace }
    let isPort = port.map { UInt16($0) ?? 0 > 0 } ?? true
    if parts.count == 2 && !schemes.contains(parts[0].lowercased()) || !isHost || !isPort {
      // It may hold a password.
      throw SettingsError("\(key) cannot be used: it takes http://HOST:PORT or socks5://HOST:PORT")
    }
    return text
  }

  private static func rate(_ key: String, _ text: String) throws(SettingsError) -> Int64? {
    let rate = text == "none" ? 0 : try SettingValue.size(key, text)
    return rate == 0 ? nil : rate
  }

  private static func names(_ text: String) -> [String] { text.split(separator: ":").map(String.init) }

  private static func sidecars(_ key: String, _ text: String) throws(SettingsError) -> Set<Sidecar> {
    var sidecars: Set<Sidecar> = []
    for name in names(text) where name != "none" {
      sidecars.insert(try SettingValue.choice(key, name, Sidecar.self))
    }
    return sidecars
  }
}
