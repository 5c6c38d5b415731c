extension Settings {
  /// All options of `-o` and the configuration file but those of FUSE and mount(8) (`MountOptions.options`).
  package static let options: [Option<Settings>] = [
    .init(
      "search_url", "URL", "Apple's search service", "the search service: anything that answers in its format"
    ) { $0.searchURL = try SettingValue.address($1, $2) },
    .init("country", "CC", "us", "the country whose podcasts are searched, two letters") {
      $0.country = try SettingValue.country($1, $2)
    },
    .init("search_limit", "N", "50", "the most results of a search, 1 to 200") {
      $0.searchLimit = try SettingValue.number($1, $2, 1...200)
    },
    .init(
      "cache_size", "SIZE", "10G", "the most that episodes take on the disk; the least recently read go first"
    ) { $0.cacheSize = try SettingValue.size($1, $2) },
    .init("min_free", "SIZE", "1G", "what is left free on the disk whatever happens") {
      $0.minimumFree = try SettingValue.size($1, $2)
    },
    .init(
      "catalogue_size", "SIZE", "2G",
      "what the catalogue may take before podcasts that are neither followed, kept nor cached are forgotten"
    ) { $0.catalogueSize = try SettingValue.size($1, $2) },
    .init("directory_url", "URL", "Podcast Index's dump", "where podcastfs directory fetch gets it") {
      $0.directoryURL = try SettingValue.address($1, $2)
    },
    .init("directory_file", "FILE", "the user's own", "an offline directory of podcasts that all users share")
    {
      $0.directoryFile = try SettingValue.line($1, $2)
    },
    .init(
      "directory_every", "off|DAYS", "off",
      "after how many days the offline directory is fetched again, like 30d; not on metered networks"
    ) { $0.directoryEvery = try SettingValue.days($1, $2) },
    .init("downloads", "N", "3", "background downloads at once, 1 to 64") {
      $0.downloads = try SettingValue.number($1, $2, 1...64)
    },
    .init("per_host", "N", "2", "background downloads at once from one host, 1 to 64") {
      $0.perHost = try SettingValue.number($1, $2, 1...64)
    },
    .init("limit_rate", "SIZE", "none", "bytes per second of background downloads; 0 is none") {
      $0.limitRate = try SettingValue.rate($1, $2)
    },
    .init("on_metered", "wait|go", "wait", "background downloads on metered networks") {
      $0.restsOnMetered = try SettingValue.choice($1, $2, Settings.OnMetered.self) == .wait
    },
    .init(
      "on_battery", "go|wait|wait:N", "go",
      "background downloads without mains power; wait:30 means below 30 percent"
    ) { $0.restsBelowCharge = try SettingValue.charge($1, $2) },
    .init(
      "download_hours", "HH:MM-HH:MM", "none", "when background downloads run, by the local clock"
    ) { $0.downloadHours = try SettingValue.hours($1, $2) },
    .init("stall_timeout", "SECONDS", "30", "without a byte, after which a connection is given up") {
      $0.stallTimeout = try SettingValue.seconds($1, $2)
    },
    .init("read_timeout", "SECONDS", "60", "without a byte, after which a reader gets an error") {
      $0.readTimeout = try SettingValue.seconds($1, $2)
    },
    .init("connect_timeout", "SECONDS", "15", "for a connection to be made") {
      $0.connectTimeout = try SettingValue.seconds($1, $2)
    },
    .init("refresh", "SECONDS", "3600", "between refreshes of a subscription; below 900 means 900") {
      $0.refresh = try SettingValue.refresh($1, $2)
    },
    .init(
      "trigger", "open|read|never", "open",
      "what starts a download; never: reads fetch just what they ask for"
    ) { $0.trigger = try SettingValue.choice($1, $2, Trigger.self) },
    .init(
      "no_trigger", "NAMES", "known thumbnailers and indexers",
      "names of processes, colon-separated, that start no download; in place of the known ones"
    ) { $0.noTrigger = SettingValue.names($2) },
    .init(
      "sidecars", "KINDS", "cover:transcript",
      "files beside the episodes: cover, transcript, chapters, notes, or none"
    ) { $0.sidecars = try SettingValue.sidecars($1, $2) },
    .init(
      "transcripts", "none|followed", "none",
      "followed: transcripts of downloaded episodes of subscriptions are fetched, to be found by transcript:"
    ) { $0.transcripts = try SettingValue.choice($1, $2, Settings.FetchedTranscripts.self) },
    .init("latest", "N", "100", "episodes in Latest/, up to 10000") {
      $0.latest = try SettingValue.number($1, $2, 0...10_000)
    },
    .init("latest_days", "DAYS", "60", "Latest/ shows no older episodes; 0: of any age") {
      $0.latestDays = try SettingValue.number($1, $2, 0...36_500)
    },
    .init("queue_ahead", "N", "3", "the first episodes of Queue/ that are downloaded before they are opened")
    {
      $0.queueAhead = try SettingValue.number($1, $2, 0...999)
    },
    .init("played_margin", "SECONDS", "30", "a position so near the end marks an episode as played") {
      $0.playedMargin = try SettingValue.number($1, $2, 0...3600)
    },
    .init("notify", "on|off", "on", "desktop notifications; alone it means on", implied: "on") {
      $0.notifies = try SettingValue.flag($1, $2)
    },
    .init(
      "on_complete", "COMMAND", "none",
      "a command for each complete download, with the path and attributes in its environment"
    ) { $0.onComplete = $2.isEmpty ? nil : try SettingValue.line($1, $2) },
    .init(
      "proxy", "URL", "from the environment", "http://HOST:PORT or socks5://HOST:PORT; empty for none"
    ) { $0.proxy = try SettingValue.proxy($1, $2) },
    .init("user_agent", "TEXT", "podcastfs/VERSION", "what requests are sent as") {
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
