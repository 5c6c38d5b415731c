import HTTPKit
import HTTPServerKit
import PodcastModel
import TestSupport
import Testing

@Suite struct ServedContentTests {
  static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
  static let modified: Int64 = 1_700_000_000

  let server: HTTPServer
  let client = HTTPClient(name: "http-test")

  init() throws {
    var content = ServedContent(Self.bytes, mediaType: "audio/mpeg")
    content.etag = "\"one\""
    content.lastModified = Self.modified
    let served = content
    server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try served.respond(to: request, writer)
    }
  }

  private func get(_ headers: (name: String, value: String)...) throws -> HTTPResponse {
    let request = HTTPRequest.local(server.address + "/a.mp3") { $0.headers = headers }
    return try #require(client.answer(request)).get()
  }

  @Test func theWholeComesWithItsValidators() throws {
    let answer = try get()
    #expect(answer.head.status == 200)
    #expect(answer.body == Self.bytes)
    #expect(answer.head.contentLength == 200_000)
    #expect(answer.head.mediaType == "audio/mpeg")
    #expect(answer.head.strongETag == "\"one\"")
    #expect(answer.head.value("last-modified") == CivilTime.http(Self.modified))
  }

  @Test(
    arguments: [
      ("bytes=0-0", 0..<1), ("bytes=100-", 100..<200_000), ("bytes=-5", 199_995..<200_000),
      ("bytes=10-19", 10..<20), ("bytes=199999-300000", 199_999..<200_000), ("bytes=-999999", 0..<200_000),
    ] as [(String, Range<Int>)])
  func aRangeGivesItsPart(_ header: String, _ range: Range<Int>) throws {
    let answer = try get(("Range", header))
    #expect(answer.head.status == 206)
    #expect(answer.body == Array(Self.bytes[range]))
    #expect(
      answer.head.contentRange
        == ContentRange(range: Int64(range.lowerBound)..<Int64(range.upperBound), total: 200_000))
  }

  @Test(arguments: ["bytes=200000-", "bytes=-0"])
  func aRangeBeyondTheEndIsNotSatisfiable(_ header: String) throws {
    let answer = try get(("Range", header))
    #expect(answer.head.status == 416)
    #expect(answer.head.contentRange == ContentRange(range: nil, total: 200_000))
  }

  @Test(arguments: ["bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "lines=1-2", "bytes=", "bytes=--5"])
  func whatIsNoSingleRangeGivesTheWhole(_ header: String) throws {
    #expect(try get(("Range", header)).head.status == 200)
  }

  @Test func ifRangeGivesTheWholeOfAnotherRepresentation() throws {
    let range = (name: "Range", value: "bytes=5-9")
    #expect(try get(range, ("If-Range", "\"one\"")).head.status == 206)
    #expect(try get(range, ("If-Range", "\"two\"")).head.status == 200)
    #expect(try get(range, ("If-Range", "W/\"one\"")).head.status == 200)
    #expect(try get(range, ("If-Range", CivilTime.http(Self.modified))).head.status == 206)
    #expect(try get(range, ("If-Range", CivilTime.http(Self.modified + 1))).head.status == 200)
  }

  @Test func anUnchangedCopyIsNotSentAgain() throws {
    for condition in ["\"one\"", "W/\"one\"", "\"zero\", \"one\"", "*"] {
      #expect(try get(("If-None-Match", condition)).head.status == 304)
    }
    #expect(try get(("If-None-Match", "\"two\"")).head.status == 200)
    #expect(try get(("If-Modified-Since", CivilTime.http(Self.modified))).head.status == 304)
    #expect(try get(("If-Modified-Since", CivilTime.http(Self.modified - 1))).head.status == 200)
    // The tag counts more than the date (RFC 9110 §13.2.2).
    let date = (name: "If-Modified-Since", value: CivilTime.http(Self.modified))
    #expect(try get(("If-None-Match", "\"two\""), date).head.status == 200)
  }
}
