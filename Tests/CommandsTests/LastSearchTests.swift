import TestSupport
import Testing

/// What `subscribe` makes of what `search` printed.
@Suite struct LastSearchTests {
  let origin: OriginServer
  let directory: DirectoryService
  let environment: TestEnvironment

  init() throws {
    origin = try OriginServer()
    directory = DirectoryService(on: origin)
    environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": directory.url])
    let feed = TestFeed("Harbour Lights", items: [TestFeed.Item("One", url: origin.url("/1.mp3"), guid: "1")])
    origin.serve("/feed", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    directory.list([.init("Harbour Lights", feedURL: origin.url("/feed"))])
  }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  @Test func withoutASearchANumberRefersToNothing() throws {
    let result = try run("subscribe", "1")
    #expect(result.end == .exit(1))
    #expect(result.errors == "podcastfs: 1: nothing was searched for yet: podcastfs search WORDS\n")
  }

  @Test func afterASearchThatFoundNothingOrFailedANumberRefersToNothing() throws {
    #expect(try run("search", "harbour").end == .exit(0))
    directory.behave(.with { $0.status = 500 })
    #expect(try run("search", "bites").end == .exit(1))
    let failed = try run("subscribe", "1")
    #expect(failed.end == .exit(1))
    #expect(failed.errors == "podcastfs: 1: the last search (bites) failed: podcastfs search WORDS\n")
    directory.behave(OriginBehaviour())
    #expect(try run("search", "harbour").end == .exit(0))
    #expect(try run("search", "zebra").errors.contains("nothing found"))
    let empty = try run("subscribe", "1")
    #expect(empty.end == .exit(1))
    #expect(empty.errors == "podcastfs: 1: the last search (zebra) found nothing: podcastfs search WORDS\n")
    #expect(try run("list", "--names").output.isEmpty)
  }

  @Test func aTitleOfTheLastSearchIsFollowed() throws {
    #expect(try run("search", "harbour").end == .exit(0))
    #expect(try run("subscribe", "harbour lights").output == "Harbour Lights\n")
    let unknown = try run("subscribe", "Science Weekly")
    #expect(unknown.end == .exit(1))
    #expect(
      unknown.errors
        == "podcastfs: Science Weekly: not a feed address, and not a title of the last search: "
        + "podcastfs search Science Weekly\n")
  }

  @Test func `What is forgotten is no result of the last search`() throws {
    #expect(try run("search", "harbour").end == .exit(0))
    #expect(try run("subscribe", "1").output == "Harbour Lights\n")
    #expect(try run("forget", "Harbour Lights").end == .exit(0))
    let result = try run("subscribe", "1")
    #expect(result.errors == "podcastfs: 1: nothing was searched for yet: podcastfs search WORDS\n")
  }

  /// The search service is reached through a proxy, like any on a public host; the feeds that it names are not.
  @Test func aPublicSearchServiceNamesNoFeedOfThePrivateNetwork() throws {
    for path in ["search", "lookup"] {
      DirectoryService(on: origin, for: "http://search.example/\(path)")
        .list([.init("Harbour Lights", feedURL: origin.url("/feed"), id: 20001)])
    }
    let environment = try TestEnvironment([
      "PODCASTFS_SEARCH_URL": "http://search.example/search", "http_proxy": origin.url("/"),
      "no_proxy": "127.0.0.1",
    ])
    let search = try Products.run("podcastfs", ["search", "harbour"], in: environment)
    #expect(search.end == .exit(0) && search.output.contains("Harbour Lights"), "\(search)")
    for word in ["1", "harbour lights", "20001"] {
      let result = try Products.run("podcastfs", ["subscribe", word], in: environment)
      #expect(result.end == .exit(1) && result.errors.contains("private"), "\(word): \(result)")
    }
    #expect(origin.requests.allSatisfy { !$0.path.contains("/feed") })
    let typed = try Products.run("podcastfs", ["subscribe", origin.url("/feed")], in: environment)
    #expect(typed.output == "Harbour Lights\n", "\(typed)")
  }

  @Test func whatIsFollowedAlreadyIsNoFailure() throws {
    let address = origin.url("/feed")
    origin.serve(
      "/page",
      OriginResource(
        "<html><head><link rel='alternate' type='application/rss+xml' href='\(address)'></head></html>",
        mediaType: "text/html"))
    for words in [[address], [address], ["--json", address], [origin.url("/page")]] {
      let result = try Products.run("podcastfs", ["subscribe"] + words, in: environment)
      #expect(result.end == .exit(0) && result.errors.isEmpty, "\(words): \(result.errors)")
      #expect(result.output.contains("Harbour Lights"))
    }
    #expect(try run("list", "--names").output == "Harbour Lights\n")
  }
}
