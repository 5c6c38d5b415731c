internal import Configuration
internal import PosixKit

extension Command {
  static let help = Command(
    """
    podcastfs help [COMMAND|options]
    podcastfs help --all options

    Lists the commands, explains one, or explains the usual options of a mount and of the configuration file.

      --all     explains all options
      --manual  prints the manual page for man(1)
    """
  ) { arguments in
    if arguments.takeFlag("--manual") { return StandardStreams.write(Manual.page) }
    let isWhole = arguments.takeFlag("--all")
    switch try arguments.operands().first {
    case nil: StandardStreams.print(Help.overview)
    case "options"?: StandardStreams.print(Help.options(isWhole: isWhole))
    case let topic?:
      let command = try CommandLineTool.command(topic, or: ["options"])
      StandardStreams.print(command.form.text(columns: Help.columns))
    }
  }
}

enum Help {
  /// Of the terminal; longer lines are hard to read.
  fileprivate static var columns: Int { min(Terminal.output.width, 99) }

  fileprivate static func entry(_ form: String, _ text: String) -> String {
    ColumnText.entry("  " + form, text, at: 28, columns)
  }

  /// All commands, within 24 lines of 80 columns.
  static var overview: String {
    CommandForm.blocks(groups).map { block in
      switch block {
      case .option(let names, let words): entry(names, words)
      case .heading(let words), .literal(let words), .paragraph(let words): ColumnText.wrapped(words, columns)
      }
    }.joined(separator: "\n")
  }

  /// Those that people set, within 24 lines of 80 columns.
  private static let usualOptions = """
    country cache_size min_free downloads limit_rate on_metered download_hours refresh trigger sidecars latest latest_days
    queue_ahead notify on_complete setuid allow_other
    """.split { $0.isWhitespace }

  fileprivate static func options(isWhole: Bool) -> String {
    let shown = OptionHelp.all.filter { isWhole || usualOptions.contains(Substring($0.key)) }
    let rest = ["More: podcastfs help --all options, or podcastfs(1)"]
    return (shown.map { entry($0.form, $0.text + $0.remark) } + (isWhole ? [] : rest)).joined(separator: "\n")
  }

  private static let groups = """
    podcastfs COMMAND …: podcasts as directories, episodes as files
    # Podcasts
      search | directory  search for podcasts; search offline
      subscribe | unsubscribe  follow podcasts, stop following them
      list | refresh  list what you follow; fetch its feeds now
      import | export | sync  lists (OPML) and backups; synchronize devices
      new | find | queue  list what is new; find episodes; what is next
      position | mark  set a position; mark as played or kept
      rules | unhide  automatic downloads; show removed episodes
      info | feed | forget  show details; check a feed; remove a podcast
    # Downloads
      get  download episodes and wait for them
      status | limit | metrics  show downloads; limit them; measure
      pause | resume | cancel  pause, resume or drop downloads
    # Mount
      mount | unmount  mount podcasts on a folder (~/Podcasts)
      demo | players  try it out; store positions of media players
      restart  let the installed version serve a mount
    # Upkeep
      doctor | verify  find problems and fixes; check downloads
      help  explain a command
    More: podcastfs help COMMAND, podcastfs help options. With --quiet, commands print only errors; --json is for scripts;
    --version prints the version.
    """
}

/// The manual page podcastfs(1), in the language of man(7).
private enum Manual {
  static var page: String {
    var page = ".TH PODCASTFS 1 \"\" \"podcastfs \(podcastfsVersion)\" \"podcastfs\"\n"
    page += ".SH NAME\npodcastfs \\- podcasts as directories, episodes as files\n" + text(description)
    for form in CommandLineTool.commands.map(\.form) {
      page += ".SS \(escaped(form.synopsis.joined(separator: "; ")))\n" + form.blocks.map(text).joined()
    }
    page += text(configuration) + options(OptionHelp.all)
    page += text("# FEED SECTION\nAfter a line [feed \"URL\"], for that feed alone:")
    page += options(FeedSettings.options.map(\.help))
    page += text("# SYNC SECTION\nAfter a line [sync \"URL\"], for the server to synchronize with:")
    return page + options(SyncSettings.options.map(\.help)) + text(rest)
  }

  private static let description = """
    # DESCRIPTION
    podcastfs mounts podcasts: make a directory named after what you look for, browse podcasts as directories and
    episodes as files, and play or copy any of them with any program. Opening an episode starts its download in the
    background. Reading streams what has arrived and waits for the rest. The download continues after the reader has
    closed, after the mount has ended, and after a reboot.

    > podcastfs mount
    > mkdir ~/Podcasts/Search/"harbour lights"
    > mpv ~/Podcasts/Search/"harbour lights"/*/2024-01-03*.mp3
    > getfattr -d ~/Podcasts/Search/"harbour lights"/"Harbour Lights"/*.mp3
    # THE MOUNT
      Search/QUERY/PODCAST/DATE - EPISODE.mp3  Searches: a folder for each podcast found.
      Search/QUERY/DATE - PODCAST - EPISODE.mp3  Queries for episodes: is:unplayed newer:7d (podcastfs find).
      Discover/CATEGORY/PODCAST/  The offline directory by category, where it is installed.
      Subscriptions/PODCAST/  The podcasts that you follow; refreshed automatically. subscriptions.opml lists them.
      Latest/  The unplayed episodes of all subscriptions.
      Queue/  The episodes to play next, in order.
      Downloading/, Downloading/Paused/, Downloading/Failed/  Downloads that are not complete.
      Downloaded/PODCAST/  Complete downloads only: safe offline.
      .podcastfs/status.json, events, log  Open by name, and are not listed.
    # WHAT CAN BE DONE IN IT
      mkdir Search/QUERY  Searches. Words like country:de and limit:20 set those parameters. rmdir forgets the search.
      mv Search/QUERY/PODCAST Subscriptions/  Follows the podcast. rmdir stops following it.
      cp FILE Subscriptions/  Follows all of a list, or the feed or page that a link file names.
      mv EPISODE Downloading/, Downloading/Paused/, Queue/  Downloads, pauses or queues it; it stays where it was.
      rm EPISODE  In Downloading/ and Downloaded/ stops or drops its download, in Subscriptions/ also hides it, in Latest/ and
                  queries also marks it as played. In Search/QUERY/PODCAST/ hides it there, in Queue/ removes it from the queue.
      getfattr -d EPISODE  State, progress, size, rate, and what the feed says.
      setfattr -n user.podcastfs.state -v downloading|paused|remote EPISODE  Starts, pauses or cancels its download.
    # COMMANDS
    """

  private static let configuration = """
    # OPTIONS OF THE MOUNT AND CONFIGURATION
    For mount -o, and as lines KEY = VALUE of ~/.config/podcastfs/config, where # begins a comment. Double quotes around a
    value keep blanks at its ends. Options of mount -o replace those of the file. Sizes are bytes, or a number with K, M,
    G or T for powers of 1024. After a line [subscriptions] the keys from auto_download on are rules for all subscriptions.
    """

  private static let rest = """
    # MOUNT(8), FSTAB(5) AND AUTOFS(5)
    SOURCE means nothing: none. A person's podcasts, mounted by root at the first access:

    > none /home/ann/Podcasts podcastfs setuid=ann,noauto,x-systemd.automount,_netdev 0 0
    > podcasts -fstype=podcastfs,setuid=ann :none
    # EXIT STATUS
    0: done. 1: it failed, and one line on standard error says why. 64: wrong usage.
    # ENVIRONMENT
      PODCASTFS_SEARCH_URL  The search service; replaces the configuration's.
      http_proxy, https_proxy, all_proxy, no_proxy  As curl(1) has them.
      NO_COLOR  No colours on terminals.
    # FILES
      ~/.config/podcastfs/config  Configuration.
      ~/.local/share/podcastfs/  Catalogue and subscriptions.
      ~/.local/state/podcastfs/  The state of downloads, and podcastfs.log.
      ~/.cache/podcastfs/  Episodes: safe to delete at any time.
    """

  private static func options(_ options: [OptionHelp]) -> String {
    options.map { text(.option($0.form, $0.text + $0.remark)) }.joined()
  }

  private static func text(_ source: String) -> String { CommandForm.blocks(source).map(text).joined() }

  private static func text(_ block: CommandForm.Block) -> String {
    switch block {
    case .heading(let title): ".SH \(escaped(title))\n"
    case .paragraph(let words): ".PP\n\(line(words))\n"
    case .option(let form, let words): ".TP\n.B \(line(form))\n\(line(words))\n"
    case .literal(let lines):
      ".PP\n.nf\n.RS 4\n" + lines.split(separator: "\n").map { line(String($0)) + "\n" }.joined()
        + ".RE\n.fi\n"
    }
  }

  /// A line of text for roff, which takes a line that begins with a dot or an apostrophe for a request.
  private static func line(_ text: String) -> String {
    let text = escaped(text)
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  private static let escapes: [Character: String] = [
    "\\": "\\e", "-": "\\-", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga", "…": "...", "—": "\\(em",
  ]

  private static func escaped(_ text: String) -> String { text.map { escapes[$0] ?? String($0) }.joined() }
}
