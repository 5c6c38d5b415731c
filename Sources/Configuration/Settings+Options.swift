extension Settings {
  /// All options of `-o` and the configuration file but those of FUSE and mount(8) (`MountOptions.options`).
  package static let options: [Option<Settings>] = [
    .init(
      "search_url", "URL", "Apple's search service", "the search service; any that answers in Apple's format",
      \.searchURL, Form.address),
    .init("country", "CC", "us", "the country to search in, two letters", \.country, Form.country),
    .init(
      "search_limit", "N", "50", "how many results a search has at most, 1 to 200", \.searchLimit,
      Form.number(1...200)),
    .init(
      "cache_size", "SIZE", "10G", "room for episodes; the least recently read go", \.cacheSize, Form.size),
    .init("min_free", "SIZE", "1G", "how much room always stays free on the disk", \.minimumFree, Form.size),
    .init(
      "catalogue_size", "SIZE", "2G",
      "how much room the catalogue takes; beyond, it forgets podcasts that are not followed, kept or cached",
      \.catalogueSize, Form.size),
    .init(
      "directory_url", "URL", "Podcast Index's dump", "the address that podcastfs directory fetch downloads",
      \.directoryURL, Form.address),
    .init(
      "directory_file", "FILE", "the user's own", "an offline directory that all users share",
      \.directoryFile, Form.line),
    .init(
      "directory_every", "off|DAYS", "off",
      "how often the offline directory is fetched, like 30d; never on metered networks", \.directoryEvery,
      Form.days),
    .init("downloads", "N", "3", "background downloads at once, 1 to 64", \.downloads, Form.number(1...64)),
    .init(
      "per_host", "N", "2", "how many of them run at once from one host, 1 to 64", \.perHost,
      Form.number(1...64)),
    .init("limit_rate", "SIZE", "none", "bytes per second for background downloads", \.limitRate, Form.rate),
    .init(
      "on_metered", "wait|go", "wait", "background downloads on metered networks", \.restsOnMetered,
      Form.rests),
    .init(
      "on_battery", "go|wait|wait:N", "go", "the same on battery; wait:30: they wait below 30 percent",
      \.restsBelowCharge, Form.charge),
    .init(
      "download_hours", "HOURS", "none", "when they run, local time: 22:00-06:00", \.downloadHours, Form.hours
    ),
    .init(
      "stall_timeout", "SECONDS", "30", "how long a host may send nothing before its connection is closed",
      \.stallTimeout, Form.seconds),
    .init(
      "read_timeout", "SECONDS", "60", "how long a reader waits for a new byte before it gets an error",
      \.readTimeout, Form.seconds),
    .init(
      "connect_timeout", "SECONDS", "15", "how long it may take to connect", \.connectTimeout, Form.seconds),
    .init("refresh", "SECONDS", "3600", "between refreshes of a feed; at least 900", \.refresh, Form.refresh),
    .init(
      "trigger", "open|read|never", "open",
      "what starts a download; never: reads fetch only what they ask for", \.trigger,
      Form.choice(Trigger.self)),
    .init(
      "no_trigger", "NAMES", "thumbnailers and indexers",
      "programs that start no download, separated by colons; replaces the built-in list", \.noTrigger,
      Form.names),
    .init(
      "sidecars", "KINDS", "cover:transcript",
      "files beside the episodes: cover, transcript, chapters, notes, or none", \.sidecars, Form.sidecars),
    .init(
      "transcripts", "none|followed", "none",
      "followed: transcripts of downloaded episodes of subscriptions come too, for transcript: searches",
      \.transcripts, Form.choice(FetchedTranscripts.self)),
    .init(
      "latest", "N", "100", "how many episodes Latest/ shows, up to 10000", \.latest, Form.number(0...10_000)),
    .init(
      "latest_days", "DAYS", "60", "how old episodes in Latest/ may be; 0: any age", \.latestDays,
      Form.number(0...36_500)),
    .init(
      "queue_ahead", "N", "3", "episodes of Queue/ to download ahead, each once", \.queueAhead,
      Form.number(0...999)),
    .init(
      "played_margin", "SECONDS", "30", "this near its end an episode counts as played", \.playedMargin,
      Form.number(0...3600)),
    .init(
      "notify", "on|off", "on", "desktop notifications; without a value: on", \.notifies, Form.flag,
      implied: "on"),
    .init(
      "on_complete", "COMMAND", "none",
      "a command to run for each complete download; its environment has path and attributes", \.onComplete,
      Form.lineOrNone),
    .init(
      "proxy", "URL", "from the environment", "http://HOST:PORT or socks5://HOST:PORT; empty for none",
      \.proxy, Form.proxy),
    .init(
      "user_agent", "TEXT", "podcastfs/VERSION", "the name that requests are sent with", \.userAgent,
      Form.line),
    .init(
      "ca_file", "FILE", "the system's", "the certificate authorities to trust", \.certificateAuthorities,
      Form.line),
  ]

  /// Bytes per second as the option `limit_rate` takes them; 0 for no bound, nil for anything else.
  package static func rate(_ text: String) -> Int64? { Form.rate.read(text).map { $0 ?? 0 } }

  /// The keys that `-o` and the configuration file share.
  package static var keys: [String] { options.map(\.help).filter { $0.place == .anywhere }.map(\.key) }
}
