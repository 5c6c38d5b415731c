import Catalog
import Configuration
import Directory
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Searches where the offline directory is installed.
@Suite struct OfflineDirectoryTests {
  private let world: CatalogWorld

  init() throws {
    world = try CatalogWorld()
    let folder = try TemporaryDirectory()
    var dump = try PodcastIndexDump(path: folder.path("dump.db"))
    try dump.add(["url": "https://index.example/lights", "title": "Harbour Lights", "itunesId": 77])
    try dump.add(["url": "https://index.example/news", "title": "Harbour News"])
    try dump.finish()
    let program = Products.path("podcastfs")
    _ = try DirectoryImport(place: world.catalog.directory.place, program: program, minimumFree: 0)
      .run(try FileDescriptor(opening: folder.path("dump.db"), O_RDONLY), name: "dump.db")
  }

  private func titles(_ search: Search) throws -> [String] {
    try world.catalog.results(ofSearch: search.id).map(\.podcast.title)
  }

  private func source(_ search: Search) throws -> String? {
    try world.catalog.searches().first { $0.id == search.id }?.source
  }

  @Test func itsAnswerComesAtOnceAndThatOfTheServiceIsMergedInAndAnnounced() throws {
    let isReleased = Monitor(false)
    let answer = world.web.answer([
      ("Harbour Lights", "https://index.example/lights"), ("Harbour Tales", "/t"),
    ])
    world.web.set("/search") { _ in
      _ = isReleased.wait(until: .after(patience)) { $0 ? true : nil }
      return answer
    }
    let search = try world.search("harbour")
    #expect(search.source == "index")
    #expect(try titles(search) == ["Harbour Lights", "Harbour News"])
    let heard = Monitor<[CatalogChange]>([])
    world.catalog.observeChanges { change in heard.withLockNotifying { $0.append(change) } }
    isReleased.withLockNotifying { $0 = true }
    let isTold = heard.wait(until: .after(patience)) { $0.contains(.results(search: search.id)) ? true : nil }
    #expect(isTold == true)
    #expect(try source(search) == "index+apple")
    #expect(Set(try titles(search)) == ["Harbour Lights", "Harbour News", "Harbour Tales"])
  }

  @Test func aResultThatIsFollowedMeanwhileDoesNotComeBack() throws {
    let isReleased = Monitor(false)
    let answer = world.web.answer([("Harbour Lights", "https://index.example/lights")])
    world.web.set("/search") { _ in
      _ = isReleased.wait(until: .after(patience)) { $0 ? true : nil }
      return answer
    }
    let search = try world.search("harbour")
    let result = try #require(try world.catalog.results(ofSearch: search.id).first)
    _ = try world.catalog.subscribe(result: result.id)
    isReleased.withLockNotifying { $0 = true }
    #expect(try eventually { try source(search) == "index+apple" })
    #expect(try titles(search) == ["Harbour News"])
  }

  @Test func withoutAServiceItIsTheAnswer() throws {
    world.web.set("/search", FakeWeb.Page(status: 500))
    let search = try world.search("harbour")
    #expect(try titles(search).count == 2)
    #expect(eventually { !world.web.requests("/search").isEmpty })
    #expect(try source(search) == "index")
    let found = try wait { world.catalog.find("harbour", completion: $0) }
    #expect((found.source, found.podcasts.count) == ("index", 2))
  }

  @Test func namedAloneItSendsNothing() throws {
    let search = try world.search("harbour source:index")
    #expect(search.source == "index" && search.resultCount == 2)
    #expect(try world.search("zzz source:index").resultCount == 0)
    #expect(world.web.requestCount == 0)
    try world.catalog.directory.remove()
    let error = #expect(throws: CatalogError.self) { try world.search("other source:index") }
    #expect(error?.errno == .ENODATA && error?.message.contains("no directory is installed") == true)
  }

  @Test func whatItDoesNotKnowIsAskedOfTheService() throws {
    world.web.set("/search", world.web.answer([("Zzz", "/z")]))
    let search = try world.search("zzz")
    #expect(search.source == "apple" && search.resultCount == 1)
  }

  @Test func aNumberOfApplesIsLookedUpInItThenAtApple() throws {
    let known = try world.search("id:77")
    #expect(try titles(known) == ["Harbour Lights"])
    #expect(world.web.requestCount == 0)
    world.web.set("/lookup", world.web.answer([("Elsewhere", "/e")]))
    let other = try world.search("id:78")
    #expect(try titles(other) == ["Elsewhere"] && other.source == "apple")
    #expect(world.web.requests("/lookup").first?.query("id") == "78")
  }

  @Test func aShowThatIsExclusiveToAppleIsSaidToBe() throws {
    world.web.set("/lookup", FakeWeb.Page(#"{"resultCount":1,"results":[{"collectionName":"Only Here"}]}"#))
    let exclusive = #expect(throws: CatalogError.self) { try world.search("id:79") }
    #expect(exclusive?.message.contains("\"Only Here\" is exclusive to Apple") == true)
    world.web.set("/lookup", FakeWeb.Page(#"{"resultCount":0,"results":[]}"#))
    let unknown = #expect(throws: CatalogError.self) { try world.search("id:80") }
    #expect(unknown?.message == "Apple has no podcast of that number")
  }

  @Test func aDamagedDirectoryLeavesTheServices() throws {
    try Directories.replace(world.catalog.directory.place.file, with: Array("no database".utf8))
    world.web.set("/search", world.web.answer([("Zzz", "/z")]))
    #expect(try world.search("harbour").source == "apple")
  }
}
