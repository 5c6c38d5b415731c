extension Settings {
  /// All options of `-o` and the configuration file but those of FUSE and mount(8) (`MountOptions.options`).
  package static let options: [Option<Settings>] = [
    .init(
      "search_url", "URL", "Apple's search service", "the search service; any that answers in Apple's format"
    ) { $0.searchURL = try SettingValue.address($1, $2) },
    .init("country", "CC", "us", "the country whose podcasts are searched, two letters") {
      $0.country = try SettingValue.country($1, $2)
    },
    .init("search_limit", "N", "50", "how many results a search has at most, 1 to 200") {
      $0.searchLimit = try SettingValue.number($1, $2, 1...200)
    },
    .init(
      "cache_size", "SIZE", "10G", "how much room episodes take at most; the least recently read go first"
    ) { $0.cacheSize = try SettingValue.size($1, $2) },
    .init("min_free", "SIZE", "1G", "how much room always stays free on the disk") {
      $0.minimumFree = try SettingValue.size($1, $2)
    },
    .init(
      "catalogue_size", "SIZE", "2G",
      "how much room the catalogue takes; beyond, it forgets podcasts that are not followed, kept or cached"
    ) { $0.catalogueSize = try SettingValue.size($1, $2) },
    .init(
      "directory_url", "URL", "Podcast Index's dump", "the address that podcastfs directory fetch downloads"
    ) {
      $0.directoryURL = try SettingValue.address($1, $2)
    },
    .init("directory_file", "FILE", "the user's own", "an offline directory that all users share") {
      $0.directoryFile = try SettingValue.line($1, $2)
    },
    .init(
      "directory_every", "off|DAYS", "off",
      "how often the offline directory is fetched, like 30d; never on metered networks"
    ) { $0.directoryEvery = try SettingValue.days($1, $2) },
    .init("downloads", "N", "3", "how many background downloads run at once, 1 to 64") {
      $0.downloads = try SettingValue.number($1, $2, 1...64)
    },
    .init("per_host", "N", "2", "how many of them run at once from one host, 1 to 64") {
      $0.perHost = try SettingValue.number($1, $2, 1...64)
    },
    .init("limit_rate", "SIZE", "none", "bytes per second of all background downloads; 0: no limit") {
      $0.limitRate = try SettingValue.rate($1, $2)
    },
    .init("on_metered", "wait|go", "wait", "what background downloads do on metered networks") {
      $0.restsOnMetered = try SettingValue.choice($1, $2, Settings.OnMetered.self) == .wait
    },
    .init(
      "on_battery", "go|wait|wait:N", "go",
      "what background downloads do on battery; wait:30: they wait below 30 percent"
    ) { $0.restsBelowCharge = try SettingValue.charge($1, $2) },
    .init(
      "download_hours", "HH:MM-HH:MM", "none", "when background downloads run, in local time"
    ) { $0.downloadHours = try SettingValue.hours($1, $2) },
    .init(
      "stall_timeout", "SECONDS", "30", "how long a host may send nothing before its connection is closed"
    ) {
      $0.stallTimeout = try SettingValue.seconds($1, $2)
    },
    .init("read_timeout", "SECONDS", "60", "how long a reader waits for a new byte before it gets an error") {
      $0.readTimeout = try SettingValue.seconds($1, $2)
    },
    .init("connect_timeout", "SECONDS", "15", "how long it may take to connect") {
      $0.connectTimeout = try SettingValue.seconds($1, $2)
    },
    .init(
      "refresh", "SECONDS", "3600",
      "the time between refreshes of a subscription while an episode is due; at least 900"
    ) {
      $0.refresh = try SettingValue.refresh($1, $2)
    },
    .init(
      "trigger", "open|read|never", "open",
      "what starts a download; never: reads fetch only what they ask for"
    ) { $0.trigger = try SettingValue.choice($1, $2, Trigger.self) },
    .init(
      "no_trigger", "NAMES", "thumbnailers and indexers",
      "programs that start no download, separated by colons; replaces the built-in list"
    ) { $0.noTrigger = SettingValue.names($2) },
    .init(
      "sidecars", "KINDS", "cover:transcript",
      "files beside the episodes: cover, transcript, chapters, notes, or none"
    ) { $0.sidecars = try SettingValue.sidecars($1, $2) },
    .init(
      "transcripts", "none|followed", "none",
      "followed: transcripts of downloaded episodes of subscriptions come too, for transcript: searches"
    ) { $0.transcripts = try SettingValue.choice($1, $2, Settings.FetchedTranscripts.self) },
    .init("latest", "N", "100", "how many episodes Latest/ shows, up to 10000") {
      $0.latest = try SettingValue.number($1, $2, 0...10_000)
    },
    .init("latest_days", "DAYS", "60", "how old the episodes in Latest/ may be; 0: any age") {
      $0.latestDays = try SettingValue.number($1, $2, 0...36_500)
    },
    .init("queue_ahead", "N", "3", "how many episodes at the front of Queue/ are downloaded ahead") {
      $0.queueAhead = try SettingValue.number($1, $2, 0...999)
    },
    .init("played_margin", "SECONDS", "30", "this near its end an episode counts as played") {
      $0.playedMargin = try SettingValue.number($1, $2, 0...3600)
    },
    .init("notify", "on|off", "on", "desktop notifications; without a value: on", implied: "on") {
      $0.notifies = try SettingValue.flag($1, $2)
    },
    .init(
      "on_complete", "COMMAND", "none",
      "a command to run for each complete download; its environment has path and attributes"
    ) { $0.onComplete = $2.isEmpty ? nil : try SettingValue.line($1, $2) },
    .init(
      "proxy", "URL", "from the environment", "http://HOST:PORT or socks5://HOST:PORT; empty for none"
    ) { $0.proxy = try SettingValue.proxy($1, $2) },
    .init("user_agent", "TEXT", "podcastfs/VERSION", "the name that requests are sent with") {
      $0.userAgent = try SettingValue.line($1, $2)
    },
    .init("ca_file", "FILE", "the system's", "the certificate authorities to trust") {
      $0.certificateAuthorities = try SettingValue.line($1, $2)
    },
  ]

  /// Bytes per second as the option `limit_rate` takes them; 0 for no bound, nil for anything else.
  package static func rate(_ text: String) -> Int64? {
    do throws(SettingsError) { return try SettingValue.rate("limit_rate", text) ?? 0 } catch { return nil }
  }

  /// The keys that `-o` and the configuration file share.
  package static var keys: [String] { options.map(\.help).filter { $0.place == .anywhere }.map(\.key) }

  /// Sets one option.
  /// - Parameters:
  ///   - value: nil where only the key was given.
  ///   - places: where the option may stand to be taken.
  /// - Returns: false where there is none of that name there.
  mutating func set(
    _ key: String, _ value: String?, from places: [OptionHelp.Place] = [.anywhere]
  ) throws(SettingsError) -> Bool {
    let option = Self.options.first { $0.help.key == key && places.contains($0.help.place) }
    guard let option else { return false }
    try option.set(value, in: &self)
    return true
  }
}
