import HTTPKit
import HTTPServerKit
import PosixKit
import TestSupport
import Testing

@Suite struct AddressGuardTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fd00::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:192.168.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8", "2002:7f00:1::",
    "::ffff:0:127.0.0.1", "::ffff:0:192.168.0.1",
  ])
  func anAddressThatTheInternetCannotMeanIsPrivate(_ text: String) throws {
    #expect(try #require(HostAddress(text)).isPrivate)
  }

  @Test(arguments: [
    "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.169.0.1", "2606:4700::1111",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::",
    "2001:4860::1", "::ffff:0:8.8.8.8",
    // Some proxies give such addresses to all hosts.
    "198.18.0.1",
  ])
  func aPublicAddressIsNotPrivate(_ text: String) throws {
    #expect(try #require(HostAddress(text)).isPrivate == false)
  }

  @Test func noConnectionIsMadeToAPrivateAddressFromAPublicName() throws {
    let connections = Monitor(0)
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      connections.withLock { $0 += 1 }
      try writer.respond(200, body: [])
    }
    defer { server.stop() }
    let client = HTTPClient(name: "http-guard")
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1", "2130706433"] {
      let error = client.answer(HTTPRequest(url: "http://\(host):\(server.port)/"))?.failure
      #expect(error?.code == .refusedAddress, "\(host)")
    }
    #expect(connections.withLock { $0 } == 0)
  }

  @Test func aKeptConnectionOfARequestThatMayIsNoWayAroundTheGuard() throws {
    let connections = Monitor(0)
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      connections.withLock { $0 += 1 }
      try writer.respond(200, body: [])
    }
    defer { server.stop() }
    let client = HTTPClient(name: "http-guard")
    #expect(try client.answer(.local(server.address))?.get().head.status == 200)
    #expect(client.answer(HTTPRequest(url: server.address))?.failure?.code == .refusedAddress)
    #expect(connections.withLock { $0 } == 1)
  }

  @Test func aConfiguredProxyIsExempt() throws {
    let seen = Monitor<[String]>([])
    let proxy = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      seen.withLock { $0.append(request.target) }
      try writer.respond(200, body: Array("by proxy".utf8))
    }
    defer { proxy.stop() }
    let client = HTTPClient(name: "http-guard")
    var request = HTTPRequest(url: "http://media.example/episode.mp3")
    request.proxy = proxy.address
    let answer = try #require(client.answer(request)).get()
    #expect(answer.body == Array("by proxy".utf8))
    #expect(!answer.head.isFromPrivateHost)
    #expect(seen.withLock { $0 } == ["http://media.example/episode.mp3"])
  }
}
