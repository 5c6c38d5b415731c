import HTTPServerKit
import PosixKit
import Testing

@Suite struct HTTPServerTests {
  private static let echo: HTTPServer.Handler = { request, writer throws(ResponseWriter.Ended) in
    try writer.respond(200, body: Array("\(request.method) \(request.target)\n".utf8))
  }

  @Test func aConnectionServesSeveralRequestsAlsoWhenTheyComeTogether() throws {
    let server = try HTTPServer(handler: Self.echo)
    defer { server.stop() }
    let connection = try RawConnection(port: server.port)
    connection.send("GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n")
    let answer = connection.receive { $0.contains("GET /two\n") }
    #expect(answer.contains("GET /one\n"))
    connection.send("GET /three HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(connection.receive().hasSuffix("GET /three\n"))
  }

  @Test func aHeadRequestGetsTheHeadOnly() throws {
    let server = try HTTPServer(handler: Self.echo)
    defer { server.stop() }
    let connection = try RawConnection(port: server.port)
    connection.send("HEAD /x HTTP/1.1\r\nConnection: close\r\n\r\n")
    let answer = connection.receive()
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.contains("Content-Length: 8\r\n"))
    #expect(answer.hasSuffix("\r\n\r\n"))
  }

  @Test func anOlderClientGetsABodyOfUnknownLengthUntilTheClose() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: nil)
      try writer.write(Array("abc".utf8))
    }
    defer { server.stop() }
    let old = try RawConnection(port: server.port)
    old.send("GET / HTTP/1.0\r\n\r\n")
    #expect(old.receive().hasSuffix("\r\n\r\nabc"))
    let new = try RawConnection(port: server.port)
    new.send("GET / HTTP/1.1\r\n\r\n")
    #expect(new.receive { $0.hasSuffix("0\r\n\r\n") }.hasSuffix("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
  }

  @Test(arguments: [
    ("POST / HTTP/1.1\r\n\r\n", 405), ("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 413),
    ("nonsense\r\n\r\n", 400), ("GET nowhere HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
  ])
  func whatItDoesNotServeIsRefusedAndTheConnectionCloses(_ text: String, _ status: Int) throws {
    let server = try HTTPServer(handler: Self.echo)
    defer { server.stop() }
    let connection = try RawConnection(port: server.port)
    connection.send(text)
    #expect(connection.receive().hasPrefix("HTTP/1.1 \(status) "))
  }

  @Test func aHeadWithoutEndIsRefused() throws {
    let server = try HTTPServer(handler: Self.echo)
    defer { server.stop() }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\n")
    connection.send(String(repeating: "X: y\r\n", count: 12_000))
    #expect(connection.receive().hasPrefix("HTTP/1.1 431 "))
  }

  @Test func aHandlerThatAnswersNothingIsAnErrorOfTheServer() throws {
    let server = try HTTPServer { _, _ in }
    defer { server.stop() }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(connection.receive().hasPrefix("HTTP/1.1 500 "))
  }

  @Test func theQueryIsDecodedAsFormsEncodeIt() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
      try writer.respond(200, body: Array("\(request.path)?\(query)".utf8))
    }
    defer { server.stop() }
    let connection = try RawConnection(port: server.port)
    connection.send("GET /a%20b+c?term=h%C3%A4fen+lights&x&y=%zz%2 HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(connection.receive().hasSuffix("/a b+c?term=häfen lights|x=|y=%zz%2"))
  }

  @Test func aStopEndsWhatIsBeingSentAndClosesThePort() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: 1_000_000)
      writer.rate = 1000
      try writer.write([UInt8](repeating: 65, count: 1_000_000))
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET / HTTP/1.1\r\n\r\n")
    _ = connection.receive { $0.contains("AAAA") }
    server.stop()
    #expect(connection.receive().utf8.count < 1_000_000)
    #expect(throws: PosixError.self) { _ = try RawConnection(port: server.port) }
  }

  @Test func moreConnectionsThanItServesWaitForTheirTurn() throws {
    let server = try HTTPServer(maximumConnections: 2, handler: Self.echo)
    defer { server.stop() }
    let first = try RawConnection(port: server.port)
    first.send("GET /first HTTP/1.1\r\n\r\n")
    _ = first.receive { $0.contains("GET /first") }
    do {
      let second = try RawConnection(port: server.port)
      second.send("GET /second HTTP/1.1\r\n\r\n")
      _ = second.receive { $0.contains("GET /second") }
      let third = try RawConnection(port: server.port)
      third.send("GET /third HTTP/1.1\r\n\r\n")
      second.send("GET /last HTTP/1.1\r\nConnection: close\r\n\r\n")
      #expect(second.receive().contains("GET /last"))
      #expect(third.receive { $0.contains("GET /third") }.contains("GET /third"))
    }
  }
}
