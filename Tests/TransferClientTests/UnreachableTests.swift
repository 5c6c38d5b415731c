import Configuration
import HTTPServerKit
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What a reader gets who has nothing of an episode whose host gives nothing of use: no wait for the time limit.
@Suite struct UnreachableTests {
  let user: TransferFixture
  let body = TestBody(seed: 31, size: 300_000)

  init() throws { user = try TransferFixture() }

  /// A client whose readers wait for longer than a test does.
  private func client() throws -> TransferClient { try user.client { $0.readTimeout = 600 } }

  /// An address at which nobody listens.
  private func closedAddress() throws -> String {
    let origin = try OriginServer()
    defer { origin.stop() }
    return origin.serve("/a.mp3", OriginResource(body))
  }

  @Test func anOpenEndsWhereTheHostRefusesConnections() throws {
    let request = TransferFixture.request(try closedAddress())
    let client = try client()
    #expect(client.openFailure(request)?.errno == .ECONNREFUSED)
    #expect(client.status(of: request.key)?.state == .queued)
    #expect(client.status(of: request.key)?.error == "connection refused by 127.0.0.1")
  }

  @Test func anOpenEndsWhereThereIsNoSuchHost() throws {
    let request = TransferFixture.request("http://nowhere.invalid/a.mp3")
    let client = try client()
    let failure = client.openFailure(request)
    #expect([.EHOSTUNREACH, .ENETUNREACH].contains(failure?.errno), "\(String(describing: failure))")
    #expect(client.status(of: request.key)?.state == .queued)
  }

  /// `trigger=read` and `trigger=never`.
  @Test(arguments: [OpenIntent.downloadAtRead, .fetchOnly])
  func aFirstReadEndsWhereTheHostRefusesConnections(_ intent: OpenIntent) throws {
    let request = TransferFixture.request(try closedAddress())
    let client = try client()
    #expect(try client.opened(request, intent).readFailure(at: 0)?.errno == .ECONNREFUSED)
  }

  @Test func aLoginPageEndsAnOpenAndTheDownloadGoesOnByItself() throws {
    let request = user.serve(body) { $0.plan = [.with { $0.isWebPage = true }] }
    let client = try client()
    #expect(client.openFailure(request)?.errno == .EIO)
    #expect(client.reaches(.cached, request))
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
  }

  /// Not where something is here: the rest may still come.
  @Test func aReaderOfWhatIsHereWaits() throws {
    let request = user.serve(body) {
      $0.plan = [.with { $0.cutAfter = 100_000 }, .with { $0.isWebPage = true }]
    }
    let client = try client()
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
  }

  /// A proxy that has changed what it passes on says so by 203 (RFC 9110 §15.3.4).
  @Test func aWholeWithStatus203IsTheEpisode() throws {
    let body = body
    let url = user.origin.handle("/b.mp3") { _, writer throws(ResponseWriter.Ended) in
      try writer.begin(203, [("Content-Type", "audio/mpeg")], length: body.size)
      try writer.write(body.bytes)
    }
    let request = TransferFixture.request(url)
    let client = try client()
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
  }
}
