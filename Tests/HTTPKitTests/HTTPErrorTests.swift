import HTTPKit
import HTTPServerKit
import PosixKit
import TestSupport
import Testing

@Suite struct HTTPErrorTests {
  let client = HTTPClient(name: "http-test")

  @Test func aRefusedConnectionNamesTheHostAndNoSecret() throws {
    let server = try HTTPServer { _, _ in }
    let port = server.port
    server.stop()
    let error = client.answer(.local("http://me:secret@127.0.0.1:\(port)/feed?token=hidden"))?.failure
    #expect(error?.code == .connectionRefused)
    #expect(error?.errno == .ECONNREFUSED)
    #expect(error?.message == "connection refused by 127.0.0.1")
  }

  @Test func aHostThatNoNameServerKnowsIsNotFound() {
    let error = client.answer(.local("http://no-such-host.invalid/"))?.failure
    #expect(error?.code == .nameNotResolved || error?.code == .networkUnreachable)
    #expect(error?.errno == .EHOSTUNREACH || error?.errno == .ENETUNREACH)
    #expect(error?.message.contains("no-such-host.invalid") == true)
  }

  @Test(arguments: ["", "nonsense", "http://", "http:///path", "http://a b/", "http://127.0.0.1:99999/"])
  func aBadAddressIsAnError(_ url: String) {
    #expect(client.answer(.local(url))?.failure?.code == .malformedURL)
  }

  @Test func aBodyCutShortIsAnError() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: 100)
      try writer.write([1, 2, 3])
      throw writer.cut()
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    client.start(.local(server.address), receiver: receiver)
    let record = try #require(receiver.ended)
    #expect(record.body == [1, 2, 3])
    #expect(record.ends.first??.code == .shortBody)
  }

  @Test func aChunkedBodyWithoutItsLastChunkIsAnError() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: nil)
      try writer.write([1, 2, 3])
      throw writer.cut()
    }
    defer { server.stop() }
    #expect(client.answer(.local(server.address))?.failure?.code == .shortBody)
  }

  @Test func aResetIsALostConnection() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/body" {
        try writer.begin(200, length: 100)
        try writer.write([1])
        try writer.pause(0.05)
      }
      throw writer.reset()
    }
    defer { server.stop() }
    for path in ["/", "/body"] {
      let error = client.answer(.local(server.address + path))?.failure
      #expect(error?.code == .connectionLost)
      #expect(error?.errno == .ECONNRESET)
    }
  }

  @Test func anAnswerThatIsNoHTTPIsAnError() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.writeRaw(Array((request.path == "/old" ? "just text" : "HTTP/9 banana\r\n\r\n").utf8))
    }
    defer { server.stop() }
    #expect(client.answer(.local(server.address + "/old"))?.failure?.code == .protocolError)
    #expect(client.answer(.local(server.address + "/new"))?.failure?.code == .protocolError)
  }

  @Test func headersWithoutEndAreAnError() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.writeRaw(Array("HTTP/1.1 200 OK\r\n".utf8))
      while true { try writer.writeRaw(Array("X-Line: \(String(repeating: "x", count: 1000))\r\n".utf8)) }
    }
    defer { server.stop() }
    #expect(client.answer(.local(server.address))?.failure?.code == .protocolError)
  }

  @Test func aSilentServerIsAStallBeforeAndInTheBody() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/body" {
        try writer.begin(200, length: 100)
        try writer.write([1, 2, 3])
      }
      try writer.pause(60)
    }
    defer { server.stop() }
    for path in ["/", "/body"] {
      var request = HTTPRequest.local(server.address + path)
      request.stallTimeout = 0.2
      let error = client.answer(request)?.failure
      #expect(error?.code == .stalled)
      #expect(error?.errno == .ETIMEDOUT)
      #expect(error?.message == "127.0.0.1 sent nothing for 0.2 s")
    }
  }

  /// Its body may be silent, trickle, be without end, or be cut: none is waited for as long as a final one's.
  @Test(arguments: ["silent", "trickling", "endless", "cut"])
  func aRedirectIsFollowedWhateverItsBodyIs(_ body: String) throws {
    let sent = Monitor(0)
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/end" { return try writer.respond(200, body: Array("end".utf8)) }
      try writer.begin(302, [("Location", "/end")], length: body == "endless" ? nil : 100)
      if body == "silent" { try writer.pause(3600) }
      if body == "cut" { throw writer.cut() }
      while body == "trickling" {
        try writer.write([0x7a])
        try writer.pause(0.7)
      }
      while true {
        try writer.write([UInt8](repeating: 0x7a, count: 65536))
        sent.withLock { $0 += 65536 }
      }
    }
    defer { server.stop() }
    let answer = try #require(client.answer(.local(server.address) { $0.stallTimeout = 3600 })).get()
    #expect(answer.body == Array("end".utf8))
    #expect(answer.head.redirects.map(\.status) == [302])
    // What the sockets hold.
    #expect(sent.withLock { $0 } < 32 << 20)
  }

  /// Also where that passes while a redirect's body is awaited.
  @Test func theTimeForTheWholeIsForAllRedirectsTogether() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(302, [("Location", "/again")], length: 100)
      try writer.pause(60)
    }
    defer { server.stop() }
    let error = client.answer(.local(server.address) { ($0.stallTimeout, $0.totalTimeout) = (0.2, 0.5) })?
      .failure
    #expect(error?.code == .timedOut)
    #expect(error?.message == "127.0.0.1 took longer than 0.5 s")
  }

  /// RFC 9112 §6.3: where the body ends can't be known.
  @Test(arguments: ["5\r\nContent-Length: 10", "10\r\nContent-Length: 5", "5, 10"])
  func aBodyOfTwoLengthsIsAnError(_ lengths: String) throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.writeRaw(Array("HTTP/1.1 200 OK\r\nContent-Length: \(lengths)\r\n\r\n0123456789".utf8))
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    client.start(.local(server.address), receiver: receiver)
    let record = try #require(receiver.ended)
    #expect(record.ends.first??.code == .protocolError)
    #expect(record.ends.first??.message == "127.0.0.1 sent two lengths for one body")
    #expect(record.heads.isEmpty && record.body.isEmpty)
  }

  @Test(arguments: ["5\r\nContent-Length: 5", "5, 5", "7\r\nTransfer-Encoding: chunked\r\nContent-Length: 9"])
  func aLengthToldTwiceIsNone(_ lengths: String) throws {
    let body = lengths.contains("chunked") ? "5\r\n01234\r\n0\r\n\r\n" : "01234"
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.writeRaw(Array("HTTP/1.1 200 OK\r\nContent-Length: \(lengths)\r\n\r\n\(body)".utf8))
    }
    defer { server.stop() }
    let answer = try #require(try client.answer(.local(server.address))?.get())
    #expect(answer.body == Array("01234".utf8))
    if lengths.contains("chunked") { #expect(answer.head.contentLength == nil) }
  }

  @Test func interimResponsesAndTrailersWithoutEndAreErrors() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/trailers" {
        try writer.writeRaw(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n".utf8))
        while true { try writer.writeRaw(Array("X-Line: \(String(repeating: "x", count: 1000))\r\n".utf8)) }
      }
      while true { try writer.writeRaw(Array("HTTP/1.1 102 Processing\r\n\r\n".utf8)) }
    }
    defer { server.stop() }
    #expect(client.answer(.local(server.address + "/interim"))?.failure?.code == .protocolError)
    #expect(client.answer(.local(server.address + "/trailers"))?.failure?.code == .protocolError)
  }

  @Test func theWholeHasABoundWhereOneIsGiven() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: 1_000_000)
      writer.rate = 100
      try writer.write([UInt8](repeating: 1, count: 1_000_000))
    }
    defer { server.stop() }
    var request = HTTPRequest.local(server.address)
    request.totalTimeout = 0.3
    #expect(client.answer(request)?.failure?.code == .timedOut)
  }

  @Test func aBodyBeyondTheBoundIsAnErrorWithAndWithoutALength() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: request.path == "/told" ? 1000 : nil)
      try writer.write([UInt8](repeating: 1, count: 1000))
    }
    defer { server.stop() }
    for path in ["/told", "/untold"] {
      var request = HTTPRequest.local(server.address + path)
      request.maximumBody = 999
      #expect(client.answer(request)?.failure?.code == .bodyTooLong)
      request.maximumBody = 1000
      #expect(try client.answer(request)?.get().body.count == 1000)
    }
  }

  @Test(arguments: ["http://media.example/a", "https://media.example/a"])
  func aProxyThatCannotBeReachedIsNamedAndNotTheHost(url: String) throws {
    let server = try HTTPServer { _, _ in }
    let port = server.port
    server.stop()
    for proxy in ["http://me:secret@127.0.0.1:\(port)", "127.0.0.1:\(port)/", "socks5://127.0.0.1:\(port)"] {
      let error = client.answer(.local(url) { $0.proxy = proxy })?.failure
      #expect(error?.code == .proxy)
      #expect(error?.errno == .ECONNREFUSED)
      #expect(error?.message == "connection refused by the proxy 127.0.0.1:\(port) (for media.example)")
    }
    let error = client.answer(.local(url) { $0.proxy = "http://no-such-proxy.invalid:3128" })?.failure
    #expect(error?.code == .proxy || error?.code == .networkUnreachable)
    #expect(error?.message.contains("the proxy no-such-proxy.invalid:3128 (for media.example)") == true)
  }

  /// The address of a host that the proxy does not reach either.
  @Test func aProxyThatSaysNothingOfTheHostIsNamedToo() throws {
    // The kernel takes the connection, and nobody the request.
    let listener = try LoopbackSocket.listen()
    let proxy = "127.0.0.1:\(try LoopbackSocket.port(of: listener.rawValue))"
    let error = client.answer(
      .local("https://media.example/a") {
        $0.proxy = "http://" + proxy
        $0.connectTimeout = 0.3
      })?.failure
    #expect(error?.errno == .ETIMEDOUT)
    #expect(error?.message == "no connection to media.example through the proxy \(proxy) in 0.3 s")
  }

  @Test func aProxyThatRefusesIsNamedAsSuch() throws {
    let server = try HTTPServer { _, _ in }
    let proxy = server.address
    defer { server.stop() }
    var request = HTTPRequest.local("https://media.example/")
    request.proxy = proxy
    // The server knows no CONNECT: 405.
    let error = client.answer(request)?.failure
    #expect(error?.code == .proxy)
    #expect(error?.message == "the proxy refused a connection to media.example (HTTP 405)")
  }
}
