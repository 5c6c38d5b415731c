import HTTPKit
import HTTPServerKit
import PosixKit
import TestSupport
import Testing

@Suite struct HTTPClientTests {
  let client = HTTPClient(name: "http-test")

  @Test func aReceiverHearsOneHeadThenTheBodyThenOneEnd() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, [("Content-Type", "text/plain"), ("ETag", "\"a\"")], body: Array("hello".utf8))
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    client.start(.local(server.address + "/x"), receiver: receiver)
    let record = try #require(receiver.ended)
    #expect(record.order == ["head", "body", "end"])
    #expect(record.ends == [nil])
    #expect(record.body == Array("hello".utf8))
    #expect(record.heads[0].status == 200)
    #expect(record.heads[0].value("etag") == "\"a\"")
    #expect(record.heads[0].effectiveURL == server.address + "/x")
    #expect(record.heads[0].isFromPrivateHost)
  }

  @Test func anEmptyBodyAndEveryStatusAreAnswersAndNoErrors() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.respond(Int(request.path.dropFirst()) ?? 500, body: [])
    }
    defer { server.stop() }
    for status in [200, 204, 304, 401, 403, 404, 410, 416, 429, 500, 503] {
      let answer = try #require(client.answer(.local("\(server.address)/\(status)"))).get()
      #expect(answer.head.status == status)
      #expect(answer.body.isEmpty)
    }
  }

  @Test func redirectsAreFollowedWithTheirCookiesAndOnlyTheLastHeadIsDelivered() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      switch request.path {
      case "/start":
        let cookie = [(name: "Set-Cookie", value: "pass=7; Path=/"), (name: "Location", value: "hop?x=1")]
        try writer.respond(302, cookie, body: Array("moved".utf8))
      case "/hop": try writer.respond(301, [("Location", "/end")], body: [])
      default: try writer.respond(200, body: Array((request.header("cookie") ?? "none").utf8))
      }
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    client.start(.local(server.address + "/start"), receiver: receiver)
    let record = try #require(receiver.ended)
    #expect(record.order == ["head", "body", "end"])
    #expect(record.body == Array("pass=7".utf8))
    #expect(record.heads[0].effectiveURL == server.address + "/end")
    #expect(record.heads[0].redirects.map(\.status) == [302, 301])
    #expect(
      record.heads[0].redirects.map(\.location) == [server.address + "/hop?x=1", server.address + "/end"])
    // Another request starts without the cookies of this one.
    #expect(try client.answer(.local(server.address + "/end"))?.get().body == Array("none".utf8))
  }

  @Test(arguments: [300, 304, 305])
  func onlyRedirectsLeadElsewhere(_ status: Int) throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/end" { return try writer.respond(200, body: Array("end".utf8)) }
      try writer.respond(status, [("Location", "/end")], body: [])
    }
    defer { server.stop() }
    let answer = try #require(client.answer(.local(server.address))).get()
    #expect(answer.head.status == status)
    #expect(answer.body.isEmpty && answer.head.redirects.isEmpty)
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func everyRedirectIsFollowedAlsoAfterAnInterimResponse(_ status: Int) throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/end" { return try writer.respond(200, body: Array("end".utf8)) }
      let lines = [
        "HTTP/1.1 103 Early Hints", "Link: </x>", "", "HTTP/1.1 \(status) Moved", "Location: /end",
        "Content-Length: 0", "", "",
      ]
      try writer.writeRaw(Array(lines.joined(separator: "\r\n").utf8))
    }
    defer { server.stop() }
    let answer = try #require(client.answer(.local(server.address))).get()
    #expect(answer.head.status == 200)
    #expect(answer.head.redirects.map(\.status) == [status])
    #expect(answer.body == Array("end".utf8))
  }

  @Test func aRedirectLoopEndsAtTheBound() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.respond(302, [("Location", "/again")], body: [])
    }
    defer { server.stop() }
    let error = try #require(client.answer(.local(server.address))).failure
    #expect(error?.code == .tooManyRedirects)
  }

  @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/"])
  func aRedirectToAnotherSchemeIsRefused(_ target: String) throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.respond(302, [("Location", target)], body: [])
    }
    defer { server.stop() }
    #expect(client.answer(.local(server.address))?.failure?.code == .unsupportedScheme)
    #expect(client.answer(.local(target))?.failure?.code == .malformedURL)
  }

  @Test func aCancelledRequestEndsOnceAsCancelled() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: 100)
      try writer.write([1, 2, 3])
      try writer.pause(60)
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    let task = client.start(.local(server.address), receiver: receiver)
    #expect(receiver.record { $0.body.count == 3 } != nil)
    task.cancel()
    task.cancel()
    #expect(receiver.ended?.ends == [.cancelled])
    // A later request passes through the same thread: by then a second end would have come.
    _ = client.answer(.local("nonsense"))
    #expect(receiver.ended?.ends.count == 1)
  }

  @Test func aReceiverEndsARequestByAbortAtTheHeadAndInTheBody() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, body: [UInt8](repeating: 7, count: 100_000))
    }
    defer { server.stop() }
    let first = RecordingReceiver(onHead: { .abort })
    client.start(.local(server.address), receiver: first)
    #expect(first.ended?.order == ["head", "end"])
    #expect(first.ended?.ends == [.cancelled])
    let second = RecordingReceiver(onBody: { $0 > 30_000 ? .abort : .proceed })
    client.start(.local(server.address), receiver: second)
    let record = try #require(second.ended)
    #expect(record.ends == [.cancelled])
    #expect(record.body.count > 30_000 && record.body.count < 100_000)
  }

  @Test func aStoppedClientEndsWhatIsUnderWayAndWhatComesLater() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in try writer.pause(60) }
    defer { server.stop() }
    let client = HTTPClient(name: "http-stop")
    let first = RecordingReceiver()
    client.start(.local(server.address), receiver: first)
    client.stop()
    #expect(first.ended?.ends == [.cancelled])
    let second = RecordingReceiver()
    client.start(.local(server.address), receiver: second)
    #expect(second.ended?.ends == [.cancelled])
  }

  @Test func aDeadHostHoldsUpNoOther() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if request.path == "/dead" { return try writer.pause(60) }
      try writer.respond(200, body: Array("alive".utf8))
    }
    defer { server.stop() }
    let dead = (0..<40).map { _ in RecordingReceiver() }
    let tasks = dead.map { client.start(.local(server.address + "/dead"), receiver: $0) }
    #expect(try client.answer(.local(server.address + "/live"))?.get().body == Array("alive".utf8))
    for task in tasks { task.cancel() }
    for receiver in dead { #expect(receiver.ended?.ends == [.cancelled]) }
  }
}
