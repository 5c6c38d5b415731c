import Configuration
import HTTPServerKit
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// Episodes that come by a proxy (Documentation/Configuration.md, `proxy`).
@Suite struct ProxyTransferTests {
  let user: TransferFixture
  let body = TestBody(seed: 71, size: 1_000_000)
  /// A host that can be reached by a proxy only.
  private static let url = "http://harbour.example/a.mp3"

  init() throws { user = try TransferFixture() }

  /// What an origin is asked for when it is a proxy is the whole address.
  private func proxy(_ behaviour: OriginBehaviour = OriginBehaviour()) throws -> OriginServer {
    let proxy = try OriginServer()
    var resource = OriginResource(body)
    resource.behaviour = behaviour
    proxy.serve(Self.url, resource)
    return proxy
  }

  @Test func theOptionHolds() throws {
    let proxy = try proxy()
    let client = try user.client { $0.proxy = proxy.address }
    let episode = try client.opened(TransferFixture.request(Self.url))
    #expect(body.firstDifference(try episode.read(at: 900_000, 4096), at: 900_000) == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(proxy.requests.allSatisfy { $0.target == Self.url })
  }

  @Test func theMountsEnvironmentHoldsWhoeverStartedTheDaemonAndAfterARestart() throws {
    let proxy = try proxy(.with { $0.rate = 500_000 })
    let request = TransferFixture.request(Self.url)
    // Started by a program that knows of no proxy.
    let other = user.serve(body, at: "/b.mp3")
    let command = try user.client(isMount: false)
    _ = try command.opened(other).read(at: 0, 100)
    let variables = ["http_proxy": proxy.address, "no_proxy": "127.0.0.1"]
    let client = try user.client { $0.proxyVariables = variables }
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { (client.status(of: request.key)?.received ?? 0) > 100_000 })
    client.stop()
    #expect(user.killDaemon())
    proxy.change(Self.url) { $0.behaviour.rate = nil }
    command.resumeUnfinished()
    #expect(command.reaches(.cached, request))
    #expect(body.firstDifference(try command.opened(request).readAll()) == nil)
    // Excepted by `no_proxy`.
    #expect(body.firstDifference(try command.opened(other).readAll()) == nil)
    #expect(proxy.requests.allSatisfy { $0.target == Self.url })
  }

  @Test func anEmptyOptionMeansNoneWhateverTheEnvironmentSays() throws {
    let proxy = try proxy()
    let client = try user.client {
      $0.proxy = ""
      $0.proxyVariables = ["http_proxy": proxy.address]
    }
    #expect(body.firstDifference(try client.opened(user.serve(body)).readAll()) == nil)
    #expect(proxy.requests.isEmpty)
  }

  @Test func aProxyThatRefusesIsSaidToAndIsTriedAgain() throws {
    let client = try user.client {
      $0.proxy = "http://me:secret@127.0.0.1:1"
      $0.readTimeout = 1
    }
    let request = TransferFixture.request(Self.url)
    let failure = try #require(client.openFailure(request))
    let words = "connection refused by the proxy 127.0.0.1:1 (for harbour.example)"
    #expect(failure.message == words)
    #expect(client.status(of: request.key)?.error == words)
    #expect(client.status(of: request.key)?.state == .queued)
  }

  @Test(.enabled(if: TLSFront.isAvailable, "nginx and openssl are not installed"))
  func secureAddressesComeByATunnel() throws {
    _ = user.serve(body)
    let front = try TLSFront(before: user.origin, names: "DNS:harbour.example")
    let proxy = try TunnelProxy(to: front.port)
    let client = try user.client { settings in
      settings.certificateAuthorities = front.authority.file
      settings.proxyVariables = ["https_proxy": proxy.address.replacing("//", with: "//me:word@")]
    }
    let request = TransferFixture.request("https://harbour.example/a.mp3")
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 900_000, 4096), at: 900_000) == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(!proxy.targets.isEmpty && proxy.targets.allSatisfy { $0 == "harbour.example:443" })
    #expect(proxy.heads.first?.contains("Proxy-Authorization: Basic bWU6d29yZA==") == true)
    // The proxy's credentials are not for the host.
    #expect(user.origin.requests.allSatisfy { $0.header("proxy-authorization") == nil })
  }
}
