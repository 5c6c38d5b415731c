import HTTPKit
import TestSupport
import Testing

@Suite struct CredentialTests {
  let origin: OriginServer
  let client = HTTPClient(name: "http-test")

  init() throws {
    origin = try OriginServer()
    origin.serve("/end", OriginResource("end", mediaType: "text/plain"))
  }

  /// Asks for /start with credentials in the address; the origin's requests for /end afterwards.
  private func authorization(afterRedirectTo target: String, headers: [(name: String, value: String)] = [])
    throws -> [String?]
  {
    origin.serve("/start", OriginResource("", mediaType: "text/plain"))
    origin.change("/start") { $0.behaviour.redirectTarget = target }
    let request = HTTPRequest.local("http://me:s%40cret@127.0.0.1:\(origin.port)/start?token=hidden") {
      $0.headers = headers
    }
    #expect(try client.answer(request)?.get().head.status == 200)
    // "me:s@cret"
    #expect(origin.requests("/start").last?.header("authorization") == "Basic bWU6c0BjcmV0")
    return origin.requests("/end").map { $0.header("authorization") }
  }

  @Test func credentialsOfAnAddressFollowARedirectOnTheSameHost() throws {
    #expect(try authorization(afterRedirectTo: "/end") == ["Basic bWU6c0BjcmV0"])
    #expect(try authorization(afterRedirectTo: origin.url("/end")).last == "Basic bWU6c0BjcmV0")
  }

  @Test func credentialsOfAnAddressGoToNoOtherHostOrPort() throws {
    #expect(try authorization(afterRedirectTo: "http://localhost:\(origin.port)/end") == [nil])
    let other = try OriginServer()
    other.serve("/end", OriginResource("end", mediaType: "text/plain"))
    #expect(try authorization(afterRedirectTo: other.url("/end")) == [nil])
    #expect(other.requests("/end").map { $0.header("authorization") } == [nil])
  }

  @Test func aHeaderWithCredentialsGoesToNoOtherHost() throws {
    let secret = [
      (name: "Authorization", value: "Bearer x"), (name: "Cookie", value: "a=b"), (name: "X-A", value: "c"),
    ]
    let other = try OriginServer()
    for origin in [origin, other] {
      origin.serve("/end", OriginResource("end", mediaType: "text/plain"))
      self.origin.serve("/start", OriginResource("", mediaType: "text/plain"))
      self.origin.change("/start") { $0.behaviour.redirectTarget = origin.url("/end") }
      _ = try client.answer(.local(self.origin.url("/start")) { $0.headers = secret })?.get()
      let seen = try #require(origin.requests("/end").first)
      let isOwn = origin === self.origin
      #expect(seen.header("authorization") == (isOwn ? "Bearer x" : nil))
      #expect(seen.header("cookie") == (isOwn ? "a=b" : nil))
      #expect(seen.header("x-a") == "c")
    }
  }

  @Test func errorsHoldNoPartOfAnAddressButItsHost() throws {
    origin.change("/end") { $0.behaviour.cutAfter = 1 }
    let request = HTTPRequest.local("http://me:secret@127.0.0.1:\(origin.port)/end?token=hidden")
    let error = try #require(client.answer(request)?.failure)
    #expect(error.message == "127.0.0.1 closed the connection before the end")
  }

  @Test func headersThatWouldEndTheirLineAreTamed() throws {
    let request = HTTPRequest.local(origin.url("/end")) {
      $0.headers = [("X-One", "a\r\nX-Two: b"), ("X-Empty", "")]
      $0.userAgent = "agent\r\nX-Three: c"
    }
    _ = try client.answer(request)?.get()
    let seen = try #require(origin.requests("/end").first)
    #expect(seen.header("x-one") == "a  X-Two: b")
    #expect(seen.header("x-empty") == "")
    #expect(seen.header("x-two") == nil && seen.header("x-three") == nil)
    #expect(seen.header("user-agent") == "agent  X-Three: c")
  }

  @Test func addressesWithBlanksAndLettersOfAllScriptsAreAskedForPercentEncoded() throws {
    _ = try client.answer(.local(" \(origin.url("/a b/hä%20fen.mp3?q=ü x#part"))\n"))?.get()
    #expect(origin.requests.map(\.target) == ["/a%20b/h%C3%A4%20fen.mp3?q=%C3%BC%20x"])
  }

  @Test func anAddressOfIPv6IsReached() throws {
    let error = client.answer(.local("http://[::1]:1/"))?.failure
    #expect(error?.code == .connectionRefused || error?.code == .networkUnreachable)
    #expect(client.answer(HTTPRequest(url: "http://[::1]:1/"))?.failure?.code == .refusedAddress)
  }

  @Test(arguments: [
    "http://b\u{fc}cher.localhost", "http://BU\u{308}CHER.localhost", "http://xn--bcher-kva.localhost",
  ])
  func aHostWithLettersBeyondASCIIIsReached(_ address: String) throws {
    let answer = try client.answer(.local("\(address):\(origin.port)/end"))?.get()
    #expect(answer?.head.status == 200)
    #expect(origin.requests("/end").map { $0.header("host") } == ["xn--bcher-kva.localhost:\(origin.port)"])
  }

  @Test func aRedirectToAHostWithLettersBeyondASCIIIsFollowed() throws {
    origin.serve("/start", OriginResource("", mediaType: "text/plain"))
    origin.change("/start") { [port = origin.port] in
      $0.behaviour.redirectTarget = "http://b\u{fc}cher.localhost:\(port)/end"
    }
    #expect(try client.answer(.local(origin.url("/start")))?.get().head.status == 200)
  }

  @Test func anErrorNamesAHostAsPeopleReadIt() {
    let error = client.answer(.local("http://b\u{fc}cher.localhost:1/"))?.failure
    #expect(error?.message == "connection refused by b\u{fc}cher.localhost")
  }

  @Test(arguments: ["100%", "100%25"]) func aPasswordIsSentAsItIsMeant(_ spelling: String) throws {
    _ = try client.answer(.local("http://me:\(spelling)@127.0.0.1:\(origin.port)/end"))?.get()
    // "me:100%"
    #expect(origin.requests("/end").map { $0.header("authorization") } == ["Basic bWU6MTAwJQ=="])
  }
}
