import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

@Suite struct SearchTests {
  @Test func aSearchShowsEachPodcastThatHasAFeed() throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("Harbour Lights", "/a"), ("Harbour: News?", "/b")]))
    let search = try world.search("harbour lights")
    #expect(search.name == "harbour lights")
    #expect(search.resultCount == 2)
    #expect(search.source == "apple")
    let results = try world.catalog.results(ofSearch: search.id)
    #expect(results.map(\.podcast.title) == ["Harbour Lights", "Harbour: News?"])
    #expect(results.map(\.name) == ["Harbour Lights", EpisodeName.directoryName(title: "Harbour: News?")])
    #expect(results[0].podcast.feedURL == "\(world.web.address)/a")
    #expect(results[0].podcast.author == "Someone")
    #expect(!results[0].podcast.isFetched)
    #expect(try world.catalog.searches() == [search])
    #expect(world.web.requests("/a").isEmpty, "listing a search must fetch no feed")
  }

  @Test func whatADirectoryNamesIsPublicAndWhatAUserNamesIsNot() throws {
    let world = try CatalogWorld()
    let own = try world.catalog.subscribe(feedURL: "http://a.example/feed/8f14e45fceea167a5a36dedd4bea2543")
    #expect(!own.podcast.isListed)
    world.web.set(
      "/search", world.web.answer([("A", "http://a.example/feed/8f14e45fceea167a5a36dedd4bea2543")]))
    _ = try world.search("x")
    #expect(try world.catalog.podcast(own.podcast.id)?.isListed == true)
  }

  @Test func theServiceIsAskedInAppleFormatWithAnyScript() throws {
    let world = try CatalogWorld { $0.searchURL! += "?key=1" }
    world.web.set("/search", world.web.answer([]))
    let search = try world.search("Grüße 東京 & a=b country:de limit:20")
    #expect(search.resultCount == 0)
    let request = try #require(world.web.requests("/search").first)
    #expect(request.query("term") == "Grüße 東京 & a=b")
    #expect(request.query("media") == "podcast")
    #expect(request.query("country") == "de")
    #expect(request.query("limit") == "20")
    #expect(request.query("key") == "1")
  }

  @Test func oneOddResultLosesNoOther() throws {
    let world = try CatalogWorld()
    world.web.set(
      "/search",
      FakeWeb.Page(
        """
        {"results":[{"feedUrl":"http://a.example/1","collectionName":"One","artistId":"x","genres":[{"name":"N"}]},
        7,null,{},{"collectionName":"No feed"},{"feedUrl":"ftp://a.example/","collectionName":"Bad"},
        {"feedUrl":["http://a.example/9"]},{"feedUrl":"http://a.example/2","collectionName":12,"genres":"x"},
        {"feedUrl":"http://a.example/3","trackName":"Three"},{"feedUrl":"http://b.example/4"}]}
        """))
    let search = try world.search("odd")
    let results = try world.catalog.results(ofSearch: search.id)
    #expect(results.map(\.podcast.title) == ["One", "12", "Three", "b.example"])
    #expect(results[0].podcast.categories == ["N"])
  }

  @Test func aRealAnswerIsDecodedWhole() throws {
    let world = try CatalogWorld()
    world.web.set("/search", FakeWeb.Page(body: try Directories.read(fixture("itunes-search-dell.json"))))
    let search = try world.search("dell")
    // One podcast, and nine of its episodes.
    #expect(search.resultCount == 1)
    let title = try world.catalog.results(ofSearch: search.id).first?.podcast.title
    #expect(title == "Reshaping Workflows with Dell Pro Max and NVIDIA RTX PRO GPUs")
  }

  @Test(arguments: [
    (403, Errno.EAGAIN), (429, .EAGAIN), (503, .EAGAIN), (500, .EIO), (404, .EIO), (504, .ETIMEDOUT),
  ])
  func aFailingServiceLeavesNothingBehind(status: Int, errno: Errno) throws {
    let world = try CatalogWorld()
    world.web.set("/search", FakeWeb.Page(status: status))
    let error = #expect(throws: CatalogError.self) { try world.search("x") }
    #expect(error?.errno == errno)
    #expect(try world.catalog.searches().isEmpty)
  }

  @Test func aRefusedConnectionAndGarbageAreTold() throws {
    let world = try CatalogWorld()
    world.web.set("/search", FakeWeb.Page("<html>hotel</html>"))
    #expect(throws: CatalogError.self) { try world.search("x") }
    world.web.stop()
    let error = #expect(throws: CatalogError.self) { try world.search("x") }
    #expect(error?.errno == .ECONNREFUSED)
  }

  @Test func aSearchThatIsCancelledEndsAtOnceAndLeavesNothing() throws {
    let world = try CatalogWorld()
    world.web.set("/search") { _ in
      var page = FakeWeb.Page("{\"results\":[]}")
      page.delay = 30
      return page
    }
    let results = Monitor<[Errno?]>([])
    let task = world.catalog.search("slow") { result in
      results.withLockNotifying { $0.append((result.error)?.errno) }
    }
    #expect(world.web.wait("/search", count: 1))
    task.cancel()
    let seen: [Errno?]? = results.wait(until: .after(patience)) { $0.isEmpty ? nil : $0 }
    #expect(seen == [.ECANCELED])
    #expect(try world.catalog.searches().isEmpty)
  }

  @Test func aNameIsTakenOnceAndAMoveReplaces() throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("A", "/a")]))
    let first = try world.search("one")
    #expect(throws: CatalogError.self) { try world.search("one") }
    _ = try world.search("two")
    #expect(throws: CatalogError.self) { try world.search("two", replacing: first.id) }
    let moved = try world.search("three", replacing: first.id)
    #expect(moved.id == first.id)
    #expect(try world.catalog.searches().map(\.name) == ["three", "two"])
  }

  @Test func twoSearchesThatFindTheSameFeedShareOnePodcast() throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("A", "http://Feeds.Example:80/a/")]))
    let one = try world.search("one")
    world.web.set("/search", world.web.answer([("A again", "https://feeds.example/a#x")]))
    let two = try world.search("two")
    let (a, b) = (try world.catalog.results(ofSearch: one.id), try world.catalog.results(ofSearch: two.id))
    #expect(a[0].podcast.id == b[0].podcast.id)
    #expect(a[0].id != b[0].id)
    #expect(a[0].name == "A")
    #expect(b[0].name == "A again")
  }

  @Test func namesStayWhenTheSearchIsMadeAgain() throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("Same", "/a"), ("same", "/b")]))
    let first = try world.search("same")
    let names = try world.catalog.results(ofSearch: first.id).map(\.name)
    #expect(names == ["Same", "same (2)"])
    let again = try world.search("same", replacing: first.id)
    #expect(again.id == first.id)
    #expect(try world.catalog.results(ofSearch: first.id).map(\.name) == names)
  }
}

extension Result {
  var error: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}

/// The path of a file of this target's fixtures.
func fixture(_ name: String, _ file: String = #filePath) -> String {
  "\(file[..<file.lastIndex(of: "/")!])/Fixtures/\(name)"
}
