import Configuration
import HTTPServerKit
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// Hosts that never give what is asked for, or not beside what they give already.
@Suite struct StubbornHostTests {
  let user: TransferFixture
  let body = TestBody(seed: 111, size: 4_000_000)

  init() throws { user = try TransferFixture() }

  /// Waits for a few seconds in which a host must not be asked all the time.
  private func isLeftAlone(_ request: TransferRequest, _ client: TransferClient) -> Bool {
    !client.reaches(.cached, request, within: 3) && user.origin.requests.count < 20
  }

  @Test func aServerThatRefusesEverythingAfterACutIsLeftAloneAndKeepsItsBytes() throws {
    let request = user.serve(body) { resource in
      resource.plan = [.with { $0.cutAfter = 1_000_000 }]
      resource.behaviour.status = 416
    }
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(isLeftAlone(request, client), "\(user.origin.requests.count)")
    #expect(client.status(of: request.key)?.error?.contains("416") == true)
    #expect((client.status(of: request.key)?.received ?? 0) >= 900_000)
    user.origin.change("/a.mp3") { $0.behaviour.status = nil }
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(client.reaches(.cached, request))
  }

  /// Its head tells more than its body has, each time. Readers get what there is, and an error for the rest.
  @Test(arguments: ["validator", "none", "no ranges"])
  func aLengthThatIsALieIsNotAskedForForEver(kind: String) throws {
    let body = body
    let ranges = ("Accept-Ranges", kind == "no ranges" ? "none" : "bytes")
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      var headers = [("Content-Type", "audio/mpeg"), ranges]
      if kind == "validator" { headers.append(("ETag", "\"a\"")) }
      if kind != "no ranges", request.header("range") == "bytes=\(body.size)-" {
        headers.append(("Content-Range", "bytes */\(body.size)"))
        return try writer.respond(416, headers, body: [])
      }
      try writer.begin(200, headers, length: body.size + 200_000)
      try writer.write(body.bytes(0..<body.size))
      throw writer.cut()
    }
    let request = TransferFixture.request(url)
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 3_900_000)) == nil)
    #expect(episode.readFailure(at: body.size, 4096)?.errno == .EIO)
    #expect(client.reaches(.failed, request))
    #expect(client.status(of: request.key)?.error == "127.0.0.1 sends less than it announces")
    #expect(client.status(of: request.key)?.total == body.size + 200_000)
    #expect(user.origin.requests("/a.mp3").count <= 4)
  }

  /// Whoever asks for a place gets bytes of another one, with the right validator and the right total.
  @Test(arguments: [0, 65_536, 4_096], [OpenIntent.download, .fetchOnly])
  func partsFromElsewhereAreNotAskedForAllTheTime(shift: Int64, intent: OpenIntent) throws {
    let body = body
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      let headers = [("Content-Type", "audio/mpeg"), ("ETag", "\"a\""), ("Accept-Ranges", "bytes")]
      let asked = request.header("range").flatMap { Int64($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
      guard asked > 0 else {
        try writer.begin(200, headers, length: body.size)
        writer.rate = 2_000_000
        return try writer.write(body.bytes(0..<body.size))
      }
      // The whole; the first 64 KiB; or what lies 4 KiB further.
      let given =
        shift == 0
        ? 0..<body.size : shift == 65_536 ? 0..<shift : min(asked + shift, body.size - 1)..<body.size
      let part = ("Content-Range", "bytes \(given.lowerBound)-\(given.upperBound - 1)/\(body.size)")
      try writer.begin(206, headers + [part], length: given.upperBound - given.lowerBound)
      try writer.write(body.bytes(given))
    }
    let request = TransferFixture.request(url)
    let client = try user.client()
    let episode = try client.opened(request, intent)
    if intent == .download {
      #expect(body.firstDifference(try episode.read(at: 3_000_000, 4096), at: 3_000_000) == nil)
      #expect(client.reaches(.cached, request))
    } else {
      _ = episode.readFailure(at: 3_000_000, within: 3)
    }
    #expect(user.origin.requests.count < 20)
  }

  @Test func aCodedPartThatNobodyAskedForIsNotAskedForAllTheTime() throws {
    let url = user.origin.handle("/a.mp3") { _, writer throws(ResponseWriter.Ended) in
      let headers = [
        ("Content-Type", "audio/mpeg"), ("Content-Encoding", "gzip"), ("Content-Range", "bytes 0-99/4000000"),
      ]
      try writer.respond(206, headers, body: [UInt8](repeating: 1, count: 100))
    }
    let request = TransferFixture.request(url)
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(isLeftAlone(request, client), "\(user.origin.requests.count)")
    #expect(client.status(of: request.key)?.error?.contains("nothing usable") == true)
  }

  @Test func aPartFromAnotherStartEachTimeIsNotAskedForAllTheTime() throws {
    let body = body
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      let first = request.header("range").flatMap { Int64($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
      let start = min(first + 500_000, body.size - 1)
      let headers = [
        ("Content-Type", "audio/mpeg"),
        ("Content-Range", "bytes \(start)-\(body.size - 1)/\(body.size)"),
      ]
      try writer.respond(206, headers, body: body.bytes(start..<body.size))
    }
    let request = TransferFixture.request(url)
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(isLeftAlone(request, client), "\(user.origin.requests.count)")
  }

  @Test(arguments: [
    OriginBehaviour.with { $0.status = 403 }, .with { $0.status = 404 }, .with { $0.isWebPage = true },
    .with { $0.refusesToAnswer = true },
    .with {
      $0.status = 429
      $0.retryAfter = "100"
    },
  ])
  func aRefusedSeekHarmsNoResponseUnderWay(_ refusal: OriginBehaviour) throws {
    let request = user.serve(body) { resource in
      resource.plan = [.with { $0.rate = 2_000_000 }]
      resource.behaviour = refusal
    }
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 3_000_000, 4096), at: 3_000_000) == nil)
    #expect(client.status(of: request.key)?.state == .downloading)
    #expect(client.status(of: request.key)?.error == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests.count == 2)
  }

  @Test(arguments: [false, true])
  func whoFetchesJustWhatIsReadAsksAServerWithoutRangesOnce(_ omitsLength: Bool) throws {
    let request = user.serve(
      body,
      .with {
        $0.ignoresRange = true
        $0.omitsLength = omitsLength
      })
    let client = try user.client()
    let episode = try client.opened(request, .fetchOnly)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(user.origin.requests.count <= 2)
    #expect(user.origin.sent("/a.mp3") <= body.size + 1_000_000)
  }

  @Test func aHostThatDoesNotAnswerIsAskedByFewOfThoseThatWait() throws {
    let requests = (0..<60).map { number in
      user.serve(
        TestBody(seed: UInt64(number), size: 50_000), at: "/\(number).mp3",
        .with {
          $0.refusesToAnswer = true
        })
    }
    let client = try user.client()
    for request in requests { client.order(.start(request)) { _ in } }
    #expect(!eventually(within: 3) { self.user.origin.requests.count > 20 })
    #expect(user.origin.requests.count > 2)
    // It is back: the first answer lets all come.
    for number in 0..<60 { user.origin.change("/\(number).mp3") { $0.behaviour.refusesToAnswer = false } }
    #expect(eventually { client.allStatuses().allSatisfy { $0.state == .cached } })
  }
}
