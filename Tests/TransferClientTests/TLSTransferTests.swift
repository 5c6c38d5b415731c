import Configuration
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

@Suite(.enabled(if: TLSFront.isAvailable, "nginx and openssl are not installed"))
struct TLSTransferTests {
  let user: TransferFixture
  let body = TestBody(seed: 51, size: 4_000_000)

  init() throws { user = try TransferFixture() }

  @Test(arguments: [false, true])
  func anEpisodeComesByTLSWithSeeks(_ http2: Bool) throws {
    _ = user.serve(body, .with { $0.rate = 4_000_000 })
    let front = try TLSFront(before: user.origin, http2: http2)
    let request = TransferFixture.request(front.address + "/a.mp3")
    let client = try user.client { $0.certificateAuthorities = front.authority.file }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 3_500_000, 4096), at: 3_500_000) == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
  }

  @Test func aCutStreamGoesOn() throws {
    _ = user.serve(body) { $0.plan = [.with { $0.cutAfter = 1_500_000 }] }
    let front = try TLSFront(before: user.origin)
    let request = TransferFixture.request(front.address + "/a.mp3")
    let client = try user.client { $0.certificateAuthorities = front.authority.file }
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
  }

  @Test func aCertificateThatIsNotValidFailsInWords() throws {
    _ = user.serve(body)
    let front = try TLSFront(before: user.origin)
    let request = TransferFixture.request(front.address + "/a.mp3")
    let client = try user.client()
    #expect(client.openFailure(request)?.message.contains("no secure connection to 127.0.0.1: ") == true)
    #expect(client.status(of: request.key)?.state == .queued)
  }
}
