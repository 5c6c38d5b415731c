import Configuration
import Glibc
import PosixKit
import Testing

@Suite struct SettingsTests {
  /// The settings of option lists alone.
  private func settings(_ options: String...) throws -> Settings {
    try Settings.load(file: "/nonexistent/config", environment: [:], options: options).settings
  }

  /// The error of option lists alone.
  private func refusal(_ options: String) -> String? {
    do {
      _ = try Settings.load(file: "/nonexistent/config", environment: [:], options: [options])
      return nil
    } catch {
      return error.description
    }
  }

  @Test func withoutAFileAndOptionsTheDefaultsHold() throws {
    #expect(try settings() == Settings())
  }

  /// It would be waited for, for ever.
  @Test func aFifoInPlaceOfTheFileIsRefused() throws {
    let path = "/tmp/podcastfs-settings-\(getpid())"
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    #expect(throws: SettingsError.self) { try Settings.load(file: path, environment: [:]) }
    #expect(try Settings.load(file: "/dev/null", environment: [:]).settings == Settings())
  }

  @Test func everyOptionSetsItsSetting() throws {
    let settings = try settings(
      """
      search_url=http://127.0.0.1:9/search,country=DE,search_limit=20,cache_size=1.5G,min_free=0,downloads=7,\
      per_host=1,limit_rate=100K,on_metered=go,on_battery=wait:30,download_hours=22:00-6:00,stall_timeout=5,read_timeout=0.5,connect_timeout=3,refresh=7200,trigger=read
      """,
      """
      no_trigger=a:b,sidecars=cover:notes,latest=5,notify=off,on_complete=echo a\\,b,proxy=http://p:1,\
      user_agent=me/1,ca_file=/ca.pem
      """)
    #expect(settings.searchURL == "http://127.0.0.1:9/search")
    #expect(settings.country == "de")
    #expect(settings.searchLimit == 20)
    #expect(settings.cacheSize == 3 << 29)
    #expect(settings.minimumFree == 0)
    #expect(settings.downloads == 7)
    #expect(settings.perHost == 1)
    #expect(settings.limitRate == 102_400)
    #expect(!settings.restsOnMetered && settings.restsBelowCharge == 30)
    #expect(settings.downloadHours?.text == "22:00-06:00")
    #expect(settings.stallTimeout == 5)
    #expect(settings.readTimeout == 0.5)
    #expect(settings.connectTimeout == 3)
    #expect(settings.refresh == 7200)
    #expect(settings.trigger == .read)
    #expect(settings.noTrigger == ["a", "b"])
    #expect(settings.sidecars == [.cover, .notes])
    #expect(settings.latest == 5)
    #expect(settings.notifies == false)
    #expect(settings.onComplete == "echo a,b")
    #expect(settings.proxy == "http://p:1")
    #expect(settings.userAgent == "me/1")
    #expect(settings.certificateAuthorities == "/ca.pem")
  }

  @Test(arguments: [
    "foo:bar", "http://", "://", "ftp://x:1", "http://h:99999", "http://a b:1", "http://h:0",
    "http://ann:pw@:3128", "proxy",
  ])
  func whatIsNoProxyIsRefusedWithoutItsPassword(_ text: String) {
    #expect(
      refusal("proxy=\(text)") == "proxy is not valid: it takes http://HOST:PORT or socks5://HOST:PORT")
  }

  @Test(arguments: [
    "", "proxy:3128", "http://proxy", "http://ann:p@ss@proxy:3128/", "socks5h://[::1]:1080",
    "https://[::1]",
  ])
  func whatIsAProxyIsTaken(_ text: String) throws {
    #expect(try settings("proxy=\(text)").proxy == text)
  }

  @Test func sizesAreBytesWithPowersOf1024() throws {
    for (text, bytes) in [
      ("0", 0), ("1", 1), ("2k", 2048), ("3M", 3 << 20), ("10G", 10 << 30), ("1T", 1 << 40), ("0.5K", 512),
    ] as [(String, Int64)] {
      #expect(try settings("cache_size=\(text)").cacheSize == bytes)
    }
  }

  @Test func aRefreshIsNeverUnderFifteenMinutes() throws {
    #expect(try settings("refresh=1").refresh == 900)
  }

  @Test func aLaterOptionHoldsOverAnEarlierOne() throws {
    #expect(try settings("downloads=2,downloads=3", "downloads=4").downloads == 4)
  }

  @Test func noLimitAndNothingAreValues() throws {
    #expect(try settings("limit_rate=1K,limit_rate=none").limitRate == nil)
    #expect(try settings("limit_rate=0").limitRate == nil)
    #expect(try settings("directory_every=30d").directoryEvery == 30)
    #expect(try settings("directory_every=30d,directory_every=off").directoryEvery == nil)
    #expect(try settings("on_complete=a,on_complete=").onComplete == nil)
    #expect(try settings("sidecars=none").sidecars.isEmpty)
    #expect(try settings("no_trigger=").noTrigger.isEmpty)
    #expect(try settings("download_hours=none").downloadHours == nil)
    #expect(try settings("download_hours=18:00-24:00").downloadHours?.text == "18:00-00:00")
    #expect(try settings("notify").notifies)
  }

  @Test(arguments: [
    "cache_size=ten", "cache_size=-1", "cache_size=", "cache_size=1.2.3", "cache_size=99999999T",
    "cache_size",
    "search_limit=0", "search_limit=201", "downloads=0", "downloads=3x", "country=deu", "country=d1",
    "trigger=sometimes", "sidecars=cover:music", "stall_timeout=0", "stall_timeout=-1", "read_timeout=nan",
    "notify=maybe", "search_url=ftp://x/", "search_url=http://", "latest=-1", "user_agent=",
    "on_metered=maybe", "on_battery=wait:0", "on_battery=wait:101", "on_battery=30", "download_hours=22:00",
    "download_hours=22:00-22:00", "download_hours=25:00-06:00", "download_hours=22-06",
    "download_hours=2:0-3:00", "directory_every=x", "directory_every=30", "directory_every=0d",
    "directory_every=d", "directory_every=", "on_complete=a\nb", "limit_rate=x",
  ])
  func aValueThatCannotBeUsedIsRefusedWithItsKey(_ option: String) throws {
    let message = try #require(refusal(option))
    #expect(message.contains(option.prefix { $0 != "=" }))
  }

  @Test func anUnknownOptionIsNamed() {
    #expect(refusal("downlods=3") == "unknown option: downlods: did you mean downloads?")
  }

  @Test func theOptionsOfFUSEAndMountArePassedOnOrLeftToThem() throws {
    let mount = try Settings.load(
      file: "/nonexistent/config", environment: [:],
      options: [
        "rw,allow_other,ro,fsname=my\\,pods,nosuid,noatime,x-systemd.automount,_netdev,nofail,noauto,users"
      ]
    ).mount
    #expect(OptionList.text(mount.passedOn) == #"rw,allow_other,ro,fsname=my\,pods,nosuid,noatime"#)
    #expect(refusal("ro=1") == "unknown option: ro")
    #expect(refusal("fsname") == "unknown option: fsname")
  }

  @Test func theEnvironmentIsOverTheFileAndUnderTheOptions() throws {
    let file = try TextFile("search_url = http://file.example/\ndownloads = 9\n")
    let environment = ["PODCASTFS_SEARCH_URL": "http://environment.example/"]
    func address(_ environment: [String: String], _ options: [String]) throws -> String? {
      try Settings.load(file: file.path, environment: environment, options: options).settings.searchURL
    }
    #expect(try address([:], []) == "http://file.example/")
    #expect(try address(environment, []) == "http://environment.example/")
    #expect(try address(environment, ["search_url=http://option.example/"]) == "http://option.example/")
    #expect(try address(["PODCASTFS_SEARCH_URL": ""], []) == "http://file.example/")
    #expect(throws: SettingsError.self) { try address(["PODCASTFS_SEARCH_URL": "nonsense"], []) }
  }
}

/// A file of a test's own, removed with the value.
final class TextFile {
  let path: String

  init(_ text: String) throws {
    var template = Array("/tmp/podcastfs-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    let file = FileDescriptor(owning: descriptor)
    try Array(text.utf8).withUnsafeBytes { try file.append($0) }
  }

  deinit { unlink(path) }
}
