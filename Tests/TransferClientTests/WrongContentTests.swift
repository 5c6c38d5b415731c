import Configuration
import HTTPServerKit
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What comes with status 200 and is no episode, whatever it is called.
@Suite struct WrongContentTests {
  let user: TransferFixture
  let body = TestBody(seed: 121, size: 1_000_000)

  init() throws { user = try TransferFixture() }

  private static let json = #"{"error":"AccessDenied","host":"harbour"}"#
  private static let xml = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"
  private static let text = "Too many connections from the harbour – try again later.\r\n"

  /// An answer with `content` in place of the episode, without a length.
  private func spoil(_ content: String, _ type: String) {
    user.origin.handle("/a.mp3") { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, [("Content-Type", type)], length: nil)
      try writer.write(Array(content.utf8))
    }
  }

  @Test(arguments: [json, xml, text], ["audio/mpeg", "application/octet-stream", "text/plain"])
  func anErrorThatIsCalledAudioIsNoEpisode(_ content: String, _ type: String) throws {
    let request = user.serve(body)
    spoil(content, type)
    let client = try user.client()
    #expect(client.openFailure(request)?.message.contains("instead of audio") == true)
    #expect(client.status(of: request.key)?.state == .queued)
  }

  @Test(arguments: [json, xml, text, ""])
  func itTakesThePlaceOfNothingThatCame(_ content: String) throws {
    // Whoever asks again before it is spoilt gets nothing.
    let request = user.serve(body, .with { $0.status = 503 }) { $0.plan = [.with { $0.cutAfter = 500_000 }] }
    let client = try user.client { $0.readTimeout = 2 }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 400_000)) == nil)
    spoil(content, "audio/mpeg")
    #expect(episode.readFailure(at: 900_000)?.errno == .EIO)
    #expect(eventually { user.origin.requests("/a.mp3").dropFirst().contains { $0.status == 200 } })
    let status = try #require(client.status(of: request.key))
    #expect(status.received >= 400_000 && status.total == body.size)
    user.origin.remove("/a.mp3")
    _ = user.serve(body)
    // What was asked for before may come after it.
    #expect(
      eventually {
        client.confirmed { $0.order(.start(request), completion: $1) }
          && (try? episode.readAll()).map { body.firstDifference($0) == nil } == true
      })
  }

  @Test(arguments: [nil, 0] as [Int64?])
  func anEmptyBodyIsNoEpisode(_ length: Int64?) throws {
    let request = user.serve(body)
    user.origin.handle("/a.mp3") { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, [("Content-Type", "audio/mpeg")], length: length)
    }
    let client = try user.client()
    #expect(client.openFailure(request)?.message.contains("empty file") == true)
    #expect(client.status(of: request.key)?.state == .queued)
  }

  @Test func anEpisodeThatBeginsInTinyPiecesIsOne() throws {
    let bytes = Array("ID3".utf8) + body.bytes
    let request = user.serve(body)
    user.origin.handle("/a.mp3") { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, [("Content-Type", "text/plain")], length: Int64(bytes.count))
      for index in 0..<4 {
        try writer.write([bytes[index]])
        try writer.pause(0.05)
      }
      try writer.write(Array(bytes[4...]))
    }
    let client = try user.client()
    #expect(try client.opened(request).readAll() == bytes)
  }

  @Test func anEpisodeShorterThanWhatTellsIsOne() throws {
    let small = TestBody(seed: 122, size: 100)
    let request = user.serve(small)
    let client = try user.client()
    #expect(try client.opened(request).readAll() == small.bytes)
    #expect(client.reaches(.cached, request))
  }

  /// An answer whose body ends with its connection; the first `cut` of them after so many bytes.
  private func serveUntilClose(cut: Int, after count: Int64) -> TransferRequest {
    let body = body
    let answers = Monitor(0)
    let url = user.origin.handle("/b.mp3") { _, writer throws(ResponseWriter.Ended) in
      let number = answers.withLock { answers in
        answers += 1
        return answers
      }
      let head = "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nConnection: close\r\n\r\n"
      try writer.writeRaw(Array(head.utf8) + body.bytes(0..<(number > cut ? body.size : count)))
      throw writer.cut()
    }
    return TransferFixture.request(url)
  }

  @Test func aBodyThatIsCutWhereNothingSaysSoIsDoubtedWhereTheFeedSaysMore() throws {
    var request = serveUntilClose(cut: 1, after: 400_000)
    request.expectedLength = body.size
    let client = try user.client()
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests.count == 2)
  }

  @Test func aFeedThatSaysTooMuchIsNotBelievedForEver() throws {
    var request = serveUntilClose(cut: .max, after: 400_000)
    request.expectedLength = body.size
    let client = try user.client()
    #expect(try client.opened(request).readAll() == body.bytes(0..<400_000))
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests.count == 2)
  }
}
