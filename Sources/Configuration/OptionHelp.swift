/// What an option is for, in words: the one source of `help options`, the manual pages and the completions.
package struct OptionHelp: Sendable {
  package var key: String
  /// What it takes, as a placeholder; nil for a flag.
  package var value: String?
  package var usual: String?
  package var text: String
  package var place = Place.anywhere

  package enum Place: Sendable {
    /// `-o` and the configuration file.
    case anywhere
    /// `-o` only: FUSE's and mount(8)'s.
    case mountOnly
    /// The file only: secrets, which a command line would show to all users of a machine.
    case fileOnly
  }

  private init(_ key: String, _ value: String?, _ usual: String?, _ text: String, _ place: Place = .anywhere)
  {
    self.key = key
    self.value = value
    self.usual = usual
    self.text = text
    self.place = place
  }

  package static let all: [OptionHelp] = [
    OptionHelp(
      "search_url", "URL", "Apple's search service", "the search service: anything that answers in its format"
    ),
    OptionHelp("country", "CC", "us", "the country whose podcasts are searched, two letters"),
    OptionHelp("search_limit", "N", "50", "the most results of a search, 1 to 200"),
    OptionHelp("podcastindex_url", "URL", "its own", "where Podcast Index is asked"),
    OptionHelp("fyyd_url", "URL", "its own", "where fyyd is asked"),
    OptionHelp(
      "cache_size", "SIZE", "10G", "the most that episodes take on the disk; the least recently read go first"
    ),
    OptionHelp(
      "catalogue_size", "SIZE", "2G", "what the catalogue may take before what nobody follows is forgotten"),
    OptionHelp("min_free", "SIZE", "1G", "what is left free on the disk whatever happens"),
    OptionHelp("downloads", "N", "3", "background downloads at once, 1 to 64"),
    OptionHelp("per_host", "N", "2", "background downloads at once from one host"),
    OptionHelp("limit_rate", "SIZE", "none", "bytes per second of background downloads"),
    OptionHelp("stall_timeout", "SECONDS", "30", "without a byte, after which a connection is given up"),
    OptionHelp("read_timeout", "SECONDS", "60", "without a byte, after which a reader gets an error"),
    OptionHelp("connect_timeout", "SECONDS", "15", "for a connection to be made"),
    OptionHelp("refresh", "SECONDS", "3600", "between refreshes of a subscription; at least 900"),
    OptionHelp(
      "trigger", "open|read|never", "open",
      "what starts a download; never: reads fetch just what they ask for"),
    OptionHelp(
      "no_trigger", "NAMES", "known thumbnailers and indexers",
      "names of processes, colon-separated, that start no download"),
    OptionHelp(
      "sidecars", "KINDS", "cover:transcript:chapters",
      "files beside the episodes: cover, transcript, chapters, notes, none"),
    OptionHelp("latest", "N", "100", "episodes in Latest/, up to 10000"),
    OptionHelp("notify", "on|off", "on", "desktop notifications"),
    OptionHelp(
      "on_complete", "COMMAND", "none", "a command for each complete download, told of it in its environment"),
    OptionHelp(
      "proxy", "URL", "from the environment", "http://HOST:PORT or socks5://HOST:PORT; empty for none"),
    OptionHelp("user_agent", "TEXT", "podcastfs/VERSION", "what requests are sent as"),
    OptionHelp("ca_file", "FILE", "the system's", "the certificate authorities to trust"),
    OptionHelp("podcastindex_key", "KEY", nil, "Podcast Index's key: with both it is asked too", .fileOnly),
    OptionHelp("podcastindex_secret", "SECRET", nil, "and its secret", .fileOnly),
    OptionHelp(
      "uid", "USER", "who mounts", "who seems to own what is shown, and may use its verbs", .mountOnly),
    OptionHelp("gid", "GROUP", "who mounts", "its group", .mountOnly),
    OptionHelp("umask", "BITS", "0", "permissions that are taken away, in octal", .mountOnly),
    OptionHelp("setuid", "USER", nil, "for root: mount as this user, with his home and files", .mountOnly),
    OptionHelp("allow_other", nil, nil, "other users may look in, too", .mountOnly),
    OptionHelp("allow_root", nil, nil, "root may look in, too", .mountOnly),
    OptionHelp("auto_unmount", nil, nil, "the mount goes when its process dies", .mountOnly),
    OptionHelp("fsname", "NAME", "podcastfs", "what df shows as the device", .mountOnly),
  ]
}
