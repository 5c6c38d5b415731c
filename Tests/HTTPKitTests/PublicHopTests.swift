import Glibc
import HTTPKit
import HTTPServerKit
import PosixKit
import TestSupport
import Testing

/// Leave to reach private hosts ends with the first public one on the way: in a network of the test's own, in which
/// a public address is this machine's.
@Suite struct PublicHopTests {
  private static let marker = "PODCASTFS_TEST_PUBLIC_ADDRESS"
  private static let isInside = getenv(marker) != nil
  /// No special-purpose network.
  private static let publicAddress = "93.184.216.34"

  private static let isPossible =
    Products.isInstalled("ip") && (try? ChildProcess.run(["unshare", "--net", "true"]))?.status == 0

  @Test(.enabled(if: isPossible && !isInside, "a network of its own takes root and iproute2"))
  func aPublicHostLeadsToNoPrivateOne() throws {
    let inner = try RunningProcess(
      "unshare",
      [
        "--net", Products.path("podcastfsPackageTests.xctest"), "--testing-library", "swift-testing",
        "--filter", "PublicHopTests/inANetworkOfItsOwn",
      ], environment: ["PATH": Products.searchPath, Self.marker: "1"])
    #expect(inner.wait(seconds: 120) == .exit(0), "\(inner.output)\(inner.errors)")
    let story = inner.output + inner.errors
    #expect(story.contains("inANetworkOfItsOwn() passed"), "\(story)")
  }

  @Test(.enabled(if: isInside, "part of the test above")) func inANetworkOfItsOwn() throws {
    for words in [["link", "set", "lo", "up"], ["addr", "add", Self.publicAddress + "/32", "dev", "lo"]] {
      #expect(try ChildProcess.run(["ip"] + words).status == 0)
    }
    let reached = Monitor<[String]>([])
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      reached.withLock { $0.append(request.target) }
      if let target = request.target.split(separator: "?", maxSplits: 1).dropFirst().first {
        try writer.respond(302, [("Location", String(target))], body: [])
      } else {
        try writer.respond(200, body: Array("private".utf8))
      }
    }
    defer { server.stop() }
    let privateFile = server.address + "/file"
    let redirector = try PublicRedirector(Self.publicAddress, to: privateFile)
    let client = HTTPClient(name: "http-hops")
    func ask(_ url: String, mayBePrivate: Bool) -> (code: HTTPError.Code?, status: Int?, seen: [String]) {
      reached.withLock { $0 = [] }
      var request = HTTPRequest(url: url)
      request.allowsPrivateHosts = mayBePrivate
      let answer = client.answer(request)
      return (answer?.failure?.code, try? answer?.get().head.status, reached.withLock { $0 })
    }
    // A private host may lead to another, and to a public one.
    let onwards = server.address + "/go?" + privateFile
    #expect(ask(onwards, mayBePrivate: true) == (nil, 200, ["/go?" + privateFile, "/file"]))
    // From there no way leads back, whatever was allowed.
    #expect(ask(redirector.address, mayBePrivate: true) == (.refusedAddress, nil, []))
    let back = server.address + "/go?" + redirector.address
    #expect(ask(back, mayBePrivate: true) == (.refusedAddress, nil, ["/go?" + redirector.address]))
    #expect(ask(redirector.address, mayBePrivate: false) == (.refusedAddress, nil, []))
  }
}

/// A server at an address that is not loopback, which leads all elsewhere.
private final class PublicRedirector: Sendable {
  let address: String
  private let listener: Int32

  init(_ host: String, to target: String) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, host, &name.sin_addr)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    if !isBound { throw PosixError.last("listen on", host) }
    address = "http://\(host):\(UInt16(bigEndian: name.sin_port))/"
    PosixThread.start("public") {
      while case let peer = accept(listener, nil, nil), peer >= 0 {
        var buffer = [UInt8](repeating: 0, count: 4096)
        _ = recv(peer, &buffer, buffer.count, 0)
        let answer = Array(
          "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        _ = send(peer, answer, answer.count, Int32(MSG_NOSIGNAL))
        close(peer)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}
