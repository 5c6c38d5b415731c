internal import Configuration

enum Manuals {
  static func page(_ name: String) -> String? {
    switch name {
    case "podcastfs": program
    case "podcastfs.conf": configuration
    case "podcastfs-transferd": daemon
    case "mount.podcastfs": helper
    default: nil
    }
  }

  private static var program: String {
    var page = ManualPage("podcastfs", section: "1", summary: "podcasts as directories, episodes as files")
    page.section("Synopsis")
    page.literal(CommandLineTool.commands.flatMap { CommandForm($0).synopsis }.joined(separator: "\n"))
    page.section("Description")
    page.paragraph(
      """
      podcastfs mounts podcasts: make a directory named after what you look for, browse podcasts as directories and \
      episodes as files, and play or copy any of them with any program. Opening an episode that is not downloaded yet \
      starts its download in the background; reading streams what has arrived and waits for the rest. The download \
      continues after the reader has closed, after the mount has ended, and after a reboot.
      """)
    page.section("The mount")
    for (form, words) in tree { page.entry(form, words) }
    page.section("What can be done in it")
    for (form, words) in verbs { page.entry(form, words) }
    page.section("Commands")
    for command in CommandLineTool.commands {
      let form = CommandForm(command)
      page.subsection(form.synopsis.joined(separator: "; "))
      page.add(form.blocks)
    }
    page.section("Exit status")
    page.paragraph("0: done. 1: it failed, and one line on standard error says why. 64: wrong usage.")
    page.section("Environment")
    page.entry("PODCASTFS_SEARCH_URL", "The search service; replaces the configuration's.")
    page.entry("http_proxy, https_proxy, all_proxy, no_proxy", "As curl(1) has them.")
    page.entry("NO_COLOR", "No colours on terminals.")
    page.section("Files")
    for (form, words) in files { page.entry(form, words) }
    page.section("Examples")
    page.literal(
      """
      podcastfs mount
      mkdir ~/Podcasts/Search/"harbour lights"
      mpv ~/Podcasts/Search/"harbour lights"/*/2024-01-03*.mp3
      getfattr -d ~/Podcasts/Search/"harbour lights"/"Harbour Lights"/*.mp3
      """)
    page.section("See also")
    page.paragraph(
      "podcastfs.conf(5), mount.podcastfs(8), podcastfs-transferd(8), getfattr(1), fusermount3(1)")
    return page.text
  }

  private static var configuration: String {
    var page = ManualPage("podcastfs.conf", section: "5", summary: "configuration of podcastfs")
    page.section("Synopsis")
    page.paragraph("$XDG_CONFIG_HOME/podcastfs/config, by default ~/.config/podcastfs/config")
    page.section("Description")
    page.paragraph(
      """
      A line is KEY = VALUE; a line that begins with # is a comment. Double quotes around a value keep blanks at its \
      ends. Options of mount -o replace those of the file. Sizes are bytes, or a number with K, M, G or T for powers of \
      1024.
      """)
    for option in OptionHelp.all where option.place != .mountOnly {
      page.entry(option.form, sentence(option))
    }
    page.section("Single feeds")
    page.paragraph("After a line [feed \"URL\"] these keys are for that feed alone:")
    for option in FeedSettings.options.map(\.help) { page.entry(option.form, sentence(option)) }
    page.section("All subscriptions")
    page.paragraph(
      """
      After a line [subscriptions] the keys from auto_download on are rules for all subscriptions. Those of a feed's \
      section replace them. Those that are set on a subscription's folder replace both.
      """)
    page.section("Synchronization")
    page.paragraph(
      "After a line [sync \"URL\"] these keys are for the server that podcastfs synchronizes with:")
    for option in SyncSettings.options.map(\.help) { page.entry(option.form, sentence(option)) }
    page.section("Example")
    page.literal(
      """
      cache_size = 20G
      country = de
      on_complete = ~/bin/new-episode

      [feed "https://harbour.example/feed.xml"]
      auto_download = 5

      [subscriptions]
      after_played = drop:2d

      [sync "https://cloud.example"]
      user = ann
      password_command = secret-tool lookup podcastfs sync
      """)
    page.section("See also")
    page.paragraph("podcastfs(1), mount.podcastfs(8)")
    return page.text
  }

  private static var daemon: String {
    var page = ManualPage(
      "podcastfs-transferd", section: "8", summary: "downloads episodes for the mounts of podcastfs")
    let form = CommandForm(name: "podcastfs-transferd", summary: "", usage: ProgramTexts.transferd)
    page.section("Synopsis")
    page.literal(form.synopsis.joined(separator: "\n"))
    page.section("Description")
    page.add(form.blocks)
    page.section("See also")
    page.paragraph("podcastfs(1), podcastfs.conf(5)")
    return page.text
  }

  private static var helper: String {
    var page = ManualPage(
      "mount.podcastfs", section: "8", summary: "mount podcasts, for mount(8) and fstab(5)")
    page.section("Synopsis")
    page.literal("mount -t podcastfs SOURCE MOUNTPOINT [-o OPTIONS]")
    page.section("Description")
    page.paragraph(
      """
      mount(8) calls it; podcastfs(1) describes the mount. SOURCE means nothing: none.
      """)
    page.section("Options")
    for option in OptionHelp.all where option.place != .fileOnly { page.entry(option.form, sentence(option)) }
    page.section("Examples")
    page.paragraph("A person's podcasts, mounted by root's fstab(5), at the first access:")
    page.literal("none /home/ann/Podcasts podcastfs setuid=ann,noauto,x-systemd.automount,_netdev 0 0")
    page.paragraph("The same by autofs(5):")
    page.literal("podcasts -fstype=podcastfs,setuid=ann :none")
    page.section("See also")
    page.paragraph("podcastfs(1), podcastfs.conf(5), mount(8), fstab(5)")
    return page.text
  }

  private static func sentence(_ option: OptionHelp) -> String {
    // An address stays as it is written.
    option.text.contains("://")
      ? option.text
      : option.text.prefix(1).uppercased() + option.text.dropFirst()
        + (option.usual.map { " (usually \($0))." } ?? ".")
  }
}

/// A manual page in the language of man(7).
struct ManualPage {
  private(set) var text: String

  /// - Parameter section: "1", "5", "8".
  init(_ title: String, section: String, summary: String) {
    let name = title.uppercased()
    text = ".TH \(name) \(section) \"\" \"podcastfs \(podcastfsVersion)\" \"podcastfs\"\n"
    text += ".SH NAME\n\(Self.escaped(title)) \\- \(Self.escaped(summary))\n"
  }

  mutating func section(_ title: String) { text += ".SH \(Self.escaped(title.uppercased()))\n" }
  mutating func subsection(_ title: String) { text += ".SS \(Self.escaped(title))\n" }
  mutating func paragraph(_ words: String) { text += ".PP\n\(Self.line(words))\n" }

  /// An entry of a list: a form in bold, and what it means.
  mutating func entry(_ form: String, _ words: String) {
    text += ".TP\n.B \(Self.line(form))\n\(Self.line(words))\n"
  }

  mutating func literal(_ lines: String) {
    text += ".PP\n.nf\n.RS 4\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += Self.line(String(line)) + "\n"
    }
    text += ".RE\n.fi\n"
  }

  mutating func add(_ blocks: [CommandForm.Block]) {
    for block in blocks {
      switch block {
      case .paragraph(let words): paragraph(words)
      case .option(let form, let words): entry(form, words)
      }
    }
  }

  /// A line of text for roff. A dot or an apostrophe at its beginning is escaped, because roff would take the line for
  /// a request.
  private static func line(_ text: String) -> String {
    let text = escaped(text)
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "~": result += "\\(ti"
      case "^": result += "\\(ha"
      case "`": result += "\\(ga"
      case "…": result += "..."
      case "—": result += "\\(em"
      default: result.append(character)
      }
    }
  }
}
