import Directory
import HTTPKit
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

@Suite struct DumpQuestionTests {
  private let client = HTTPClient(name: "test-http")
  private let dump = Gzip.stored(Array(repeating: 7, count: 100_000))

  private func ask(_ url: String, installed: String? = nil, as name: String = "podcastfs/test") throws
    -> DumpIdentity?
  {
    var request = HTTPRequest(url: url)
    request.allowsPrivateHosts = true
    request.userAgent = name
    return try DumpQuestion.ask(request, installed: installed, client)
  }

  @Test func aServerIsAskedForTheFirstBytesAlone() throws {
    let origin = try OriginServer()
    var resource = OriginResource(dump, mediaType: "application/gzip")
    (resource.etag, resource.lastModified) = ("\"1\"", 1_788_220_800)
    let url = origin.serve("/dump.tgz", resource)
    for ignoresRange in [false, true] {
      origin.change("/dump.tgz") { $0.behaviour.ignoresRange = ignoresRange }
      let identity = try #require(try ask(url))
      #expect(identity.entityTag == "\"1\"" && identity.length == Int64(dump.count))
      #expect(identity.lastModified == "Tue, 01 Sep 2026 00:00:00 GMT" && identity.isCertain)
      #expect(DumpIdentity(text: identity.text) == identity)
    }
    #expect(origin.requests.map(\.range) == ["bytes=0-511", "bytes=0-511"])
  }

  @Test func theDumpThatIsInstalledIsKnownAlsoToAServerWithoutConditions() throws {
    let bytes = dump
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      let isKnown = request.header("if-none-match") == "\"7\"" && request.path != "/simple"
      try writer.respond(isKnown ? 304 : 200, [("ETag", "\"7\"")], body: isKnown ? [] : bytes)
    }
    defer { server.stop() }
    let identity = try #require(try ask("\(server.address)/dump"))
    #expect(try ask("\(server.address)/dump", installed: identity.text) == nil)
    #expect(try ask("\(server.address)/other", installed: identity.text) != nil)
    let simple = try #require(try ask("\(server.address)/simple"))
    #expect(try ask("\(server.address)/simple", installed: simple.text) == nil)
  }

  @Test func whatIsKeptOfADumpHasNoSecretOfItsAddress() throws {
    let origin = try OriginServer()
    var resource = OriginResource(dump, mediaType: "application/gzip")
    resource.etag = "\"1\""
    let url =
      origin.serve("/dump.tgz", resource).replacing("http://", with: "http://ann:s3cret@") + "?token=t0ken"
    let identity = try #require(try ask(url))
    #expect(!identity.text.contains("s3cret") && !identity.text.contains("t0ken"), "\(identity.text)")
    #expect(try ask(url, installed: identity.text) == nil)
  }

  @Test func aDumpWithoutTagAndDateIsNeverTheInstalledOne() throws {
    let bytes = dump
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, [], body: bytes)
    }
    defer { server.stop() }
    let identity = try #require(try ask(server.address))
    #expect(!identity.isCertain)
    #expect(try ask(server.address, installed: identity.text) == identity)
  }

  @Test func aServerThatRefusesTheProgramsNameIsUnderstood() throws {
    let bytes = dump
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.header("user-agent")?.hasPrefix("podcastfs/") == true {
        return try writer.respond(200, [], body: bytes)
      }
      try writer.respond(
        403, [("Content-Type", "text/plain")], body: Array("generic agents are refused".utf8))
    }
    defer { server.stop() }
    #expect(try ask(server.address) != nil)
    let error = #expect(throws: DirectoryError.self) { try ask(server.address, as: "curl/8") }
    #expect(error?.errno == .EACCES)
    #expect(
      error?.message.contains("(user_agent): generic agents are refused") == true, "\(error?.message ?? "")")
  }

  @Test func anAnswerThatIsNoDumpIsRefused() throws {
    let origin = try OriginServer()
    let page = origin.serve("/login", OriginResource("<html>Log in</html>", mediaType: "text/html"))
    let error = #expect(throws: DirectoryError.self) { try ask(page) }
    #expect(error?.message.contains("<html>Log in") == true, "\(error?.message ?? "")")
    #expect(throws: DirectoryError.self) { try ask(origin.url("/nothing")) }
    var away = OriginResource([], mediaType: "application/gzip")
    away.behaviour.refusesToAnswer = true
    let silent = origin.serve("/away", away)
    #expect(throws: HTTPError.self) { try ask(silent) }
  }
}
