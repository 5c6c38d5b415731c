import Configuration
import PodcastModel
import Testing

@Suite struct ConfigurationFileTests {
  private func load(_ text: String) throws -> Settings {
    let file = try TextFile(text)
    defer { withExtendedLifetime(file) {} }
    return try Settings.load(file: file.path, environment: [:]).settings
  }

  private func refusal(_ text: String) throws -> String? {
    let file = try TextFile(text)
    do {
      _ = try Settings.load(file: file.path, environment: [:])
      return nil
    } catch {
      #expect(error.description.hasPrefix(file.path + ":"))
      return String(error.description.dropFirst(file.path.count + 1))
    }
  }

  @Test func aFileHasKeysCommentsAndSectionsForFeeds() throws {
    let settings = try load(
      """
      \u{feff}# podcastfs
      downloads=2
        cache_size =  5G\t
      on_complete = notify "$PODCASTFS_TITLE" # done

      user_agent = "  spaced  "
      proxy = http://a=b#c
      notify = off
      [feed "https://harbour.example/feed?x=1#y"]
      user_agent = Mozilla/5.0
      refresh = 60
      auto_download = 5
      exclude = rerun "best of"
      [ feed "http://other.example/" ]
      auto_download = 14d
      [subscriptions]
      after_played = drop:2d
      include = "ep 3"
      """)
    #expect(settings.downloads == 2)
    #expect(settings.cacheSize == 5 << 30)
    #expect(settings.onComplete == #"notify "$PODCASTFS_TITLE" # done"#)
    #expect(settings.userAgent == "  spaced  ")
    #expect(!settings.notifies)
    let feed = try #require(settings.feeds["https://harbour.example/feed?x=1#y"])
    #expect(feed.userAgent == "Mozilla/5.0")
    #expect(feed.refresh == 900)
    #expect(feed.rules.autoDownload == .count(5))
    #expect(feed.rules.exclude == ["rerun", "best of"])
    #expect(settings.feeds["http://other.example/"]?.rules.autoDownload == .age(14 * 86_400))
    #expect(settings.rules.afterPlayed == .drop(after: 2 * 86_400))
    #expect(settings.rules.include == ["ep 3"], "a phrase keeps its quotation marks")
  }

  @Test func theFileTakesTheOptionsOfFUSEToo() throws {
    let file = try TextFile("umask = 077\nuid = 1000\nallow_other = yes\nnosuid = off\nfsname = pods\n")
    let mount = try Settings.load(file: file.path, environment: [:], options: ["umask=022"]).mount
    #expect(mount.mask == 0o022 && mount.shownUser == 1000)
    #expect(mount.passedOn == [OptionList.Option("allow_other"), OptionList.Option("fsname", "pods")])
    #expect(try refusal("umask = 8") == "1: umask=8 is not valid: it takes permissions in octal, like 022")
    #expect(try refusal("setuid = nobody") == "1: setuid is an option of mount: -o setuid=…")
  }

  @Test func linesMayEndAsOnWindows() throws {
    #expect(try load("downloads = 5\r\n\r\n# x\r\nlatest = 6\r\n").latest == 6)
  }

  @Test(arguments: [
    ("\n\ndownlods = 3", "3: unknown key: downlods: did you mean downloads?"),
    ("downloads 3", "1: not understood: downloads 3 (a line is KEY = VALUE)"),
    ("downloads = x", "1: downloads=x is not valid: it takes a number from 1 to 64"),
    ("a = 1", "1: unknown key: a"),
    ("[mount]", "1: unknown section: [mount] (there are [feed \"URL\"], [subscriptions] and [sync \"URL\"])"),
    (
      "[feed \"http://x/\"\nrefresh = 1",
      "1: unknown section: [feed \"http://x/\" (there are [feed \"URL\"], [subscriptions] and [sync \"URL\"])"
    ),
    ("[feed \"x\"]", "1: feed=x is not valid: it takes an address that begins with http:// or https://"),
    ("[feed \"http://x/\"]\ndownloads = 3", "2: unknown key in a [feed] section: downloads"),
    (
      "[feed \"http://x/\"]\nnotify = on",
      "2: notify=on is not valid: it takes 0|1 (1: the desktop announces new episodes; 0: it announces no downloads either)"
    ),
    (
      "[subscriptions]\nkinds = short",
      "2: kinds=short is not valid: it takes KINDS (only episodes of these kinds: full, trailer, bonus)"
    ),
    ("[subscriptions]\nrefresh = 1000", "2: unknown key in [subscriptions]: refresh"),
  ])
  func aLineThatCannotBeUsedIsNamedWithItsFileAndNumber(_ text: String, _ message: String) throws {
    #expect(try refusal(text) == message)
  }

  @Test func aFileThatCannotBeReadIsAnError() {
    #expect(throws: SettingsError.self) { try Settings.load(file: "/", environment: [:]) }
  }
}
