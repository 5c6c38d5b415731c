import HTTPKit
import TestSupport
import Testing

@Suite struct OriginServerTests {
  let origin: OriginServer
  let client = HTTPClient(name: "http-test")
  let body = TestBody(seed: 3, size: 300_000)

  init() throws { origin = try OriginServer() }

  /// Serves the body with a behaviour and asks for it.
  private func get(
    _ behaviour: OriginBehaviour = OriginBehaviour(), range: String? = nil, query: String = "",
    user: String = "", _ change: (inout OriginResource) -> Void = { _ in }
  ) throws -> Result<HTTPResponse, HTTPError> {
    var resource = OriginResource(body)
    resource.behaviour = behaviour
    change(&resource)
    origin.serve("/a.mp3", resource)
    var request = HTTPRequest.local("http://\(user)127.0.0.1:\(origin.port)/a.mp3\(query)")
    if behaviour.stallAfter != nil || behaviour.latency != nil { request.stallTimeout = 0.3 }
    if let range { request.headers = [("Range", range)] }
    return try #require(client.answer(request))
  }

  @Test func itServesWholeAndInPart() throws {
    let whole = try get().get()
    #expect(whole.head.status == 200)
    #expect(body.firstDifference(whole.body) == nil)
    let part = try get(range: "bytes=1000-1999").get()
    #expect(part.head.status == 206)
    #expect(part.body == body.bytes(1000..<2000))
    #expect(part.head.contentRange?.total == 300_000)
  }

  @Test func itCutsResetsAndStallsWhereItIsTold() throws {
    #expect(try get(.with { $0.cutAfter = 1000 }).failure?.code == .shortBody)
    #expect(try get(.with { $0.resetAfter = 1000 }).failure?.code == .connectionLost)
    #expect(try get(.with { $0.stallAfter = 1000 }).failure?.code == .stalled)
    #expect(try get(.with { $0.refusesToAnswer = true }).failure?.code == .connectionLost)
    #expect(try get(.with { $0.latency = 5 }).failure?.code == .stalled)
    #expect(origin.requests.map(\.sent).prefix(3).allSatisfy { $0 == 1000 })
  }

  @Test func itAnswersWithAStatusInPlaceOfTheBody() throws {
    let answer = try get(
      .with {
        $0.status = 503
        $0.retryAfter = "7"
      }
    ).get()
    #expect(answer.head.status == 503)
    #expect(answer.head.retryAfter(now: 0) == 7)
    let page = try get(.with { $0.isWebPage = true }).get()
    #expect(page.head.mediaType == "text/html")
  }

  @Test func itRedirectsAndAsksForItsCookie() throws {
    let answer = try get(
      .with {
        $0.redirects = 8
        $0.needsCookie = true
      }
    ).get()
    #expect(answer.head.status == 200)
    #expect(answer.head.redirects.count == 8)
    #expect(try get(.with { $0.redirectsForEver = true }).failure?.code == .tooManyRedirects)
    #expect(
      try get(.with { $0.redirectTarget = "ftp://media.example/" }).failure?.code == .unsupportedScheme)
  }

  @Test func itMisunderstandsRangesAsItIsTold() throws {
    let range = "bytes=1000-1999"
    #expect(try get(.with { $0.ignoresRange = true }, range: range).get().body.count == 300_000)
    #expect(try get(.with { $0.refusesRange = true }, range: range).get().head.status == 416)
    let shifted = try get(.with { $0.rangeShift = -100 }, range: range).get()
    #expect(shifted.head.contentRange?.range == 900..<2000)
    #expect(shifted.body == body.bytes(900..<2000))
    #expect(try get(.with { $0.totalError = 5 }, range: range).get().head.contentRange?.total == 300_005)
    #expect(try get(.with { $0.totalError = 5 }).failure?.code == .shortBody)
  }

  @Test func itGivesNoLengthAndNoValidatorsWhereItIsTold() throws {
    let answer = try get(
      .with {
        $0.omitsLength = true
        $0.omitsValidators = true
      }
    ).get()
    #expect(answer.head.contentLength == nil)
    #expect(answer.head.strongETag == nil)
    #expect(answer.body == body.bytes)
  }

  @Test func itCompressesAgainstTheWish() throws {
    let behaviour = OriginBehaviour.with { $0.compresses = true }
    let coded = try get(behaviour).get()
    #expect(coded.head.contentEncoding == "gzip")
    #expect(coded.body == Gzip.stored(body.bytes))
    // A client that asks for it gets the plain bytes.
    let request = HTTPRequest.local(origin.url("/a.mp3")) { $0.acceptsCompression = true }
    #expect(try client.answer(request)?.get().body == body.bytes)
  }

  @Test func itVariesFromRequestToRequest() throws {
    let behaviour = OriginBehaviour.with { $0.variesFrom = 1000 }
    let first = try get(behaviour).get().body
    let second = try get(behaviour).get().body
    #expect(first[..<1000] == second[..<1000])
    #expect(first[1000...] != second[1000...])
  }

  @Test func itAsksForCredentialsAndAFreshAddress() throws {
    let basic = OriginBehaviour.with { $0.basicCredentials = "me:secret" }
    #expect(try get(basic).get().head.status == 401)
    #expect(try get(basic, user: "me:secret@").get().head.status == 200)
    let fresh = OriginBehaviour.with { $0.requiredQuery = "token=2" }
    #expect(try get(fresh, query: "?token=1").get().head.status == 403)
    #expect(try get(fresh, query: "?token=2").get().head.status == 200)
  }

  @Test func aPlanIsForTheNextRequestsOnly() throws {
    let statuses = try (0..<3).map { number in
      let request = { (resource: inout OriginResource) in
        if number == 0 { resource.plan = [.with { $0.status = 500 }, .with { $0.status = 429 }] }
      }
      if number == 0 { return try get(OriginBehaviour(), request).get().head.status }
      return try #require(client.answer(.local(origin.url("/a.mp3")))).get().head.status
    }
    #expect(statuses == [500, 429, 200])
  }

  @Test func itKnowsWhatItWasAskedAndSent() throws {
    _ = try get(range: "bytes=0-9").get()
    _ = try get().get()
    #expect(origin.waitUntilIdle())
    let requests = origin.requests("/a.mp3")
    #expect(requests.map(\.range) == ["bytes=0-9", nil])
    #expect(requests.map(\.status) == [206, 200])
    #expect(origin.sent("/a.mp3") == 300_010)
    #expect(requests[0].header("accept-encoding") == "identity")
    #expect(origin.peak >= 1)
  }
}
