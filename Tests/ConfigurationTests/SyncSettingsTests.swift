import Configuration
import TestSupport
import Testing

/// The section of the server to synchronize with.
@Suite struct SyncSettingsTests {
  private func read(_ text: String) throws -> Settings {
    let home = try TemporaryDirectory()
    return try Settings.load(file: home.write("config", text), environment: [:]).settings
  }

  @Test func aSectionIsReadAndLeavesTheRestAlone() throws {
    let settings = try read(
      """
      country = de
      [sync "https://cloud.example/nextcloud/"]
      kind = nextcloud
      user = ann
      password = "a \\"b\\" = c "
      every = 60
      feeds = all
      device = desk-1
      [feed "https://a.example/feed"]
      refresh = 1800
      """)
    let sync = try #require(settings.sync)
    #expect(sync.url == "https://cloud.example/nextcloud" && sync.kind == .nextcloud && sync.user == "ann")
    #expect(
      sync.password == "a \\\"b\\\" = c " && sync.every == 60 && sync.feeds == .all && sync.device == "desk-1"
    )
    #expect(settings.country == "de" && settings.feeds.count == 1)
    #expect(try read("country = de").sync == nil)
  }

  @Test(arguments: [
    ("[sync \"cloud.example\"]", "begins with http://"),
    ("[sync \"https://ann:pw@cloud.example/\"]", "put them in the keys user and password"),
    ("[sync \"https://a.example\"]\n[sync \"https://b.example\"]", "one server"),
    ("[sync \"https://a.example\"]\nevery = 5", "60 to 604800"),
    ("[sync \"https://a.example\"]\ndevice = a b", "letters, digits"),
    ("[sync \"https://a.example\"]\npasswort = x", "did you mean password?"),
  ])
  func whatCannotBeUsedIsSaid(text: String, words: String) throws {
    let error = #expect(throws: SettingsError.self) { try read(text) }
    #expect(
      error?.description.contains(words) == true && error?.description.contains("pw@") == false,
      "\(error as Any)")
  }

  private var credentials: SyncSettings {
    var sync = SyncSettings(url: "https://cloud.example/")
    (sync.kind, sync.user, sync.password) = (.nextcloud, "ann", " app \"x\"")
    return sync
  }

  private let section = """
    [sync "https://cloud.example"]
    kind = "nextcloud"
    user = "ann"
    password = " app "x""

    """

  @Test func aLoginIsAddedToTheFile() throws {
    #expect(credentials.written(into: "") == section)
    let text = credentials.written(into: "# mine\ncountry = de\n\n\n")
    #expect(text == "# mine\ncountry = de\n\n" + section)
    #expect(try read(text).sync == credentials)
  }

  @Test func aLoginTakesThePlaceOfAnEarlierOne() throws {
    let old = """
      country = de
      [sync "https://cloud.example/"]
      user = bob
      password_command = pass x
      every = 60

      [feed "https://a.example/feed"]
      refresh = 1800

      """
    let text = credentials.written(into: old)
    let settings = try read(text)
    #expect(
      settings.sync?.user == "ann" && settings.sync?.passwordCommand == nil && settings.sync?.every == 60)
    #expect(settings.feeds.count == 1 && settings.country == "de")
    #expect(credentials.written(into: text) == text)
    // Of another server nothing stays.
    let other = try read(credentials.written(into: old.replacing("cloud.example", with: "b.example")))
    #expect(other.sync == credentials && other.feeds.count == 1)
  }
}
