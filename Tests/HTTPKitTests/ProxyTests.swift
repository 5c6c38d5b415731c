import HTTPKit
import HTTPServerKit
import PosixKit
import TestSupport
import Testing

@Suite struct ProxyTests {
  private func proxy(_ url: String, own: String? = nil, _ environment: [String: String]) -> String? {
    ProxyRules(proxy: own, variables: environment).address(for: url)
  }

  @Test func theEnvironmentNamesAProxyForEachScheme() {
    let environment = [
      "http_proxy": "http://p:3128/", "HTTPS_PROXY": "https://me:secret@q", "ALL_PROXY": "r:9",
    ]
    #expect(proxy("http://a.example/", environment) == "http://p:3128/")
    #expect(proxy("https://a.example/", environment) == "https://me:secret@q")
    #expect(proxy("http://a.example/", ["all_proxy": "socks5://r:9"]) == "socks5://r:9")
    // A CGI's client could set it.
    #expect(proxy("http://a.example/", ["HTTP_PROXY": "http://p:3128/"]) == nil)
    #expect(proxy("http://a.example/", ["https_proxy": "http://p:3128/"]) == nil)
    #expect(proxy("http://a.example/", [:]) == nil)
  }

  @Test func theRequestsOwnProxyCountsMore() {
    #expect(proxy("http://a.example/", own: "http://own:1", ["http_proxy": "http://p:2"]) == "http://own:1")
    #expect(proxy("http://a.example/", own: "", ["http_proxy": "http://p:2"]) == nil)
  }

  @Test func aProxyIsNamedWithoutItsCredentials() {
    #expect(ProxyRules.name(of: "http://me:secret@p:3128/") == "p:3128")
    #expect(ProxyRules.name(of: "p:8") == "p:8")
  }

  @Test(arguments: [
    "*", "a.example", ".a.example", "example", "b.example, A.EXAMPLE", "x a.example y", "a.example.",
  ])
  func noProxyExceptsAHostByItsNameOrItsEnd(_ list: String) {
    #expect(proxy("http://a.example:80/", ["http_proxy": "http://p:2", "no_proxy": list]) == nil)
    #expect(proxy("http://me@A.example./", ["http_proxy": "http://p:2", "NO_PROXY": list]) == nil)
  }

  @Test(arguments: ["", "b.example", "xa.example", "aa.example", "*.example", "a.example.org"])
  func noProxyExceptsNoOtherHost(_ list: String) {
    #expect(proxy("http://a.example/", ["http_proxy": "http://p:2", "no_proxy": list]) == "http://p:2")
  }

  @Test func noProxyExceptsAnAddress() {
    let environment = ["http_proxy": "http://p:2", "no_proxy": "[fd00::7],192.168.1.5"]
    #expect(proxy("http://[fd00::7]/", environment) == nil)
    #expect(proxy("http://192.168.1.5/", environment) == nil)
    #expect(proxy("http://192.168.1.50/", environment) == "http://p:2")
  }

  /// A proxy that answers itself, and says what it was asked for.
  private static func proxy() throws -> HTTPServer {
    try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, [("X-Target", request.target)], body: [])
    }
  }

  @Test func aRequestGoesByItsProxy() throws {
    let origin = try OriginServer()
    origin.serve("/a.mp3", OriginResource(TestBody(seed: 1, size: 100)))
    let proxy = try Self.proxy()
    defer { proxy.stop() }
    let client = HTTPClient(name: "http-test")
    for variables in [nil, ["http_proxy": proxy.address]] {
      let request = HTTPRequest.local(origin.url("/a.mp3")) {
        $0.proxyVariables = variables
        if variables == nil { $0.proxy = proxy.address }
      }
      let answer = try #require(client.answer(request)).get()
      #expect(answer.head.value("x-target") == origin.url("/a.mp3"))
    }
    #expect(origin.requests.isEmpty)
  }

  @Test func aRedirectGoesByTheProxyForWhereItLeads() throws {
    let origin = try OriginServer()
    let proxy = try Self.proxy()
    defer { proxy.stop() }
    var moved = OriginResource([], mediaType: "text/plain")
    moved.behaviour.redirectTarget = "http://harbour.example/a.mp3"
    origin.serve("/moved", moved)
    let client = HTTPClient(name: "http-test")
    let request = HTTPRequest.local(origin.url("/moved")) {
      $0.proxyVariables = ["http_proxy": proxy.address, "no_proxy": "127.0.0.1"]
    }
    let answer = try #require(client.answer(request)).get()
    #expect(answer.head.value("x-target") == "http://harbour.example/a.mp3")
    #expect(origin.requests("/moved").count == 1)
  }
}
