import Directory
import Glibc
import HTTPKit
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

@Suite struct FetchTests {
  private let installation: Installation
  private let client = HTTPClient(name: "test-http")
  private let origin: OriginServer

  init() throws {
    installation = try Installation()
    origin = try OriginServer()
  }

  private func resource(_ bytes: [UInt8], etag: String = "\"1\"") -> OriginResource {
    var resource = OriginResource(bytes, mediaType: "application/gzip")
    resource.etag = etag
    return resource
  }

  private func archive(_ title: String, rows: Int = 1) throws -> [UInt8] {
    let file = try installation.dumpFile(
      (0..<rows).map { Installation.row(rows == 1 ? title : "\(title) \($0)") })
    return Gzip.stored(Tar.member("podcastindex_feeds.db", try Directories.read(file)) + Tar.end)
  }

  private func fetch(
    _ url: String, installed: String? = nil, minimumFree: Int64 = 0,
    progress: @escaping (Int64, Int64?) -> Void = { _, _ in }
  ) throws -> DumpIdentity? {
    var request = HTTPRequest(url: url)
    request.allowsPrivateHosts = true
    request.userAgent = "podcastfs/test"
    return try DirectoryFetch(
      place: installation.place, request: request, minimumFree: minimumFree, firstPause: 0, progress: progress
    ).run(client, installed: installed)
  }

  @Test func aDumpComesWholeAndIsInstalled() throws {
    let bytes = try archive("Harbour Lights")
    let url = origin.serve("/dump.tgz", resource(bytes))
    var last: (Int64, Int64?) = (0, nil)
    let identity = try #require(try fetch(url) { last = ($0, $1) })
    #expect(last.0 == Int64(bytes.count) && last.1 == Int64(bytes.count))
    #expect((identity.entityTag, identity.length) == ("\"1\"", Int64(bytes.count)))
    #expect(try Directories.read(installation.place.download) == bytes)
    #expect(try installation.install(installation.place.download).podcasts == 1)
    installation.place.removeDownload()
    #expect(installation.leftovers == [])
  }

  @Test func aConnectionThatIsCutGoesOnWhereItStopped() throws {
    let bytes = try archive("Show", rows: 500)
    var dump = resource(bytes)
    dump.plan = [.with { $0.cutAfter = 30_000 }, .with { $0.resetAfter = 20_000 }]
    let url = origin.serve("/dump.tgz", dump)
    _ = try #require(try fetch(url))
    #expect(try Directories.read(installation.place.download) == bytes)
    let ranges = origin.requests.compactMap { $0.range }
    #expect(ranges.first == "bytes=30000-" && ranges.count == 2, "\(ranges)")
  }

  @Test func aServerThatCutsAndResumesNothingIsGivenUp() throws {
    var dump = resource(try archive("Show", rows: 500))
    dump.behaviour.ignoresRange = true
    dump.behaviour.cutAfter = 30_000
    let url = origin.serve("/dump.tgz", dump)
    #expect(throws: HTTPError.self) { try fetch(url) }
    #expect(origin.requests.count == 6)
  }

  @Test func whatAnEarlierProcessHasFetchedIsNotFetchedAgain() throws {
    let bytes = try archive("Show", rows: 500)
    var dump = resource(bytes)
    dump.plan = Array(repeating: .with { $0.status = 503 }, count: 5)
    dump.plan.insert(.with { $0.cutAfter = 30_000 }, at: 0)
    let url = origin.serve("/dump.tgz", dump)
    #expect(throws: (any Error).self) { try fetch(url) }
    let part = try #require(installation.place.downloaded(of: url))
    #expect(part.bytes == 30_000 && part.total == Int64(bytes.count))
    origin.change("/dump.tgz") { $0.plan = [] }
    _ = try #require(try fetch(url))
    #expect(try Directories.read(installation.place.download) == bytes)
  }

  @Test func aDumpThatIsReplacedMeanwhileIsNotMixedWithTheNewOne() throws {
    let (old, new) = (try archive("Old", rows: 500), try archive("New", rows: 400))
    var dump = resource(old)
    dump.plan = [.with { $0.cutAfter = 30_000 }, .with { $0.status = 404 }]
    let url = origin.serve("/dump.tgz", dump)
    #expect(throws: (any Error).self) { try fetch(url) }
    #expect(installation.place.downloaded(of: url)?.bytes == 30_000)
    _ = origin.serve("/dump.tgz", resource(new, etag: "\"2\""))
    #expect(try fetch(url)?.entityTag == "\"2\"")
    #expect(try Directories.read(installation.place.download) == new)
  }

  @Test func theDumpThatIsInstalledIsNotFetchedAgain() throws {
    let bytes = try archive("One")
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      let isKnown = request.header("if-none-match") == "\"7\"" && request.path != "/simple"
      try writer.respond(isKnown ? 304 : 200, [("ETag", "\"7\"")], body: isKnown ? [] : bytes)
    }
    defer { server.stop() }
    let identity = try #require(try fetch("\(server.address)/dump"))
    installation.place.removeDownload()
    #expect(try fetch("\(server.address)/dump", installed: identity.text) == nil)
    #expect(try fetch("\(server.address)/other", installed: identity.text) != nil)
    let simple = try #require(try fetch("\(server.address)/simple"))
    installation.place.removeDownload()
    #expect(try fetch("\(server.address)/simple", installed: simple.text) == nil)
  }

  @Test func aServerThatRefusesTheProgramsNameIsUnderstood() throws {
    let bytes = try archive("One")
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.header("user-agent")?.hasPrefix("podcastfs/") == true {
        return try writer.respond(200, [], body: bytes)
      }
      try writer.respond(
        403, [("Content-Type", "text/plain")], body: Array("generic agents are refused".utf8))
    }
    defer { server.stop() }
    #expect(try fetch("\(server.address)/dump") != nil)
    var request = HTTPRequest(url: "\(server.address)/dump")
    request.allowsPrivateHosts = true
    request.userAgent = "curl/8"
    installation.place.removeDownload()
    let error = #expect(throws: DirectoryError.self) {
      try DirectoryFetch(place: installation.place, request: request, minimumFree: 0).run(
        client, installed: nil)
    }
    #expect(error?.errno == .EACCES)
    #expect(
      error?.message.contains("(user_agent): generic agents are refused") == true, "\(error?.message ?? "")")
  }

  @Test func anAnswerThatIsNoArchiveIsRefusedAtItsFirstByte() throws {
    let page = origin.serve("/login", OriginResource("<html>Log in</html>", mediaType: "text/html"))
    let error = #expect(throws: DirectoryError.self) { try fetch(page) }
    #expect(error?.message.contains("<html>Log in") == true, "\(error?.message ?? "")")
    #expect(installation.leftovers == [])
  }

  @Test func aDiskWithoutRoomIsFoundBeforeAnythingIsFetched() throws {
    let url = origin.serve("/dump.tgz", resource(try archive("One")))
    #expect(throws: DirectoryImport.NoRoom.self) { try fetch(url, minimumFree: .max / 2) }
    #expect(installation.leftovers == [])
  }

  @Test func aServerThatIsAwayIsGivenUpAfterFiveRequests() throws {
    var dump = resource([])
    dump.behaviour.refusesToAnswer = true
    let url = origin.serve("/dump.tgz", dump)
    #expect(throws: HTTPError.self) { try fetch(url) }
    #expect(origin.requests.count == 5)
  }
}
