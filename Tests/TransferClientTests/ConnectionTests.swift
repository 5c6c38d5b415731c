import HTTPServerKit
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// New connections cost more than anything else on the way to the first byte.
@Suite struct ConnectionTests {
  let user: TransferFixture

  init() throws { user = try TransferFixture() }

  /// An end that has come beside the beginning makes that response end before its own: its connection is kept all the
  /// same.
  @Test func episodesOneAfterTheOtherShareTwoConnections() throws {
    let client = try user.client()
    for number in 1...4 {
      let body = TestBody(seed: UInt64(number), size: 1_500_000)
      let episode = try client.opened(serveHesitantly(body, at: "/\(number).mp3"))
      #expect(body.firstDifference(try episode.readAll()) == nil)
      episode.close()
      let sent = number == 1 ? body.size : body.size + 4960
      #expect(eventually { user.origin.sent("/\(number).mp3") == sent })
    }
    #expect(user.origin.requests.filter { $0.range == "bytes=1495040-1499999" }.count == 3)
    #expect(user.origin.connections == 2)
  }

  /// The last bytes of the whole come a little later than the others.
  private func serveHesitantly(_ body: TestBody, at path: String) -> TransferRequest {
    let last = 1_495_040..<body.size
    let url = user.origin.handle(path) { request, writer throws(ResponseWriter.Ended) in
      let headers = [("Content-Type", "audio/mpeg"), ("ETag", "\"1\""), ("Accept-Ranges", "bytes")]
      if request.header("range") == "bytes=1495040-1499999" {
        let part = ("Content-Range", "bytes \(last.lowerBound)-\(last.upperBound - 1)/\(body.size)")
        return try writer.respond(206, headers + [part], body: body.bytes(last))
      }
      try writer.begin(200, headers, length: body.size)
      try writer.write(body.bytes(0..<last.lowerBound))
      try writer.pause(0.2)
      try writer.write(body.bytes(last))
    }
    var request = TransferFixture.request(url)
    request.expectedLength = body.size
    return request
  }

  /// What a player looks at first is there when the episode is open.
  @Test func theEndComesBesideTheBeginning() throws {
    let client = try user.client()
    let known = user.serve(TestBody(seed: 1, size: 100_000), at: "/known.mp3")
    _ = try client.opened(known).readAll()
    let body = TestBody(seed: 2, size: 8_000_000)
    var request = user.serve(body, .with { $0.rate = 1_000_000 })
    request.expectedLength = body.size
    let episode = try client.opened(request)
    #expect(eventually { client.status(of: request.key)?.received ?? 0 > 0 })
    #expect(body.firstDifference(try episode.read(at: 7_999_872, 128), at: 7_999_872) == nil)
    #expect(Set(user.origin.requests("/a.mp3").map(\.range)) == [nil, "bytes=7995392-7999999"])
    user.origin.change("/a.mp3") { $0.behaviour.rate = nil }
  }
}
