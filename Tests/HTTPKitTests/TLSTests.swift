import HTTPKit
import PosixKit
import TestSupport
import Testing

@Suite(.enabled(if: TLSFront.isAvailable, "nginx and openssl are not installed")) struct TLSTests {
  let client = HTTPClient(name: "http-test")
  let body = TestBody(seed: 5, size: 3_000_000)
  let origin: OriginServer

  init() throws {
    origin = try OriginServer()
    origin.serve("/a.mp3", OriginResource(body))
  }

  private func request(
    _ front: TLSFront, _ change: (inout HTTPRequest) -> Void = { _ in }
  ) -> HTTPRequest {
    .local(front.address + "/a.mp3") {
      $0.certificateAuthorities = front.authority.file
      change(&$0)
    }
  }

  @Test(arguments: [false, true])
  func aBodyComesWholeOverTLS(_ http2: Bool) throws {
    let front = try TLSFront(before: origin, http2: http2)
    let answer = try #require(client.answer(request(front))).get()
    #expect(answer.head.status == 200)
    #expect(body.firstDifference(answer.body) == nil)
  }

  @Test func aCertificateOfAnUnknownAuthorityIsRefusedInWords() throws {
    let front = try TLSFront(before: origin)
    let error = try #require(client.answer(.local(front.address + "/a.mp3"))?.failure)
    #expect(error.code == .tls)
    #expect(error.message.hasPrefix("TLS: no secure connection to 127.0.0.1: "))
    #expect(origin.requests.isEmpty)
  }

  @Test func aCertificateForAnotherHostIsRefused() throws {
    let front = try TLSFront(before: origin, names: "DNS:other.example")
    #expect(client.answer(request(front))?.failure?.code == .tls)
    #expect(origin.requests.isEmpty)
  }

  @Test func aPlainServerIsNoTLSServer() throws {
    let error = client.answer(.local("https://127.0.0.1:\(origin.port)/a.mp3"))?.failure
    #expect(error?.code == .tls)
  }

  @Test func aBodyCutOnAStreamIsAnError() throws {
    let front = try TLSFront(before: origin)
    origin.change("/a.mp3") { $0.behaviour.cutAfter = 100_000 }
    let receiver = RecordingReceiver()
    client.start(request(front), receiver: receiver)
    let record = try #require(receiver.ended)
    let code = record.ends.first??.code
    #expect(code == .connectionLost || code == .shortBody)
    #expect(body.firstDifference(record.body) == nil)
  }

  @Test func aPausedStreamHoldsUpNoOtherAndGoesOn() throws {
    let front = try TLSFront(before: origin)
    let looped = try LoopedSession()
    let receiver = RecordingReceiver()
    let task = try looped.start(request(front), receiver)
    #expect(receiver.record { $0.body.count > 100_000 } != nil)
    try looped.run { $0.pause(task) }
    #expect(try body.firstDifference(#require(client.answer(request(front))).get().body) == nil)
    try looped.run { $0.resume(task) }
    let record = try #require(receiver.ended)
    #expect(record.ends == [nil])
    #expect(body.firstDifference(record.body) == nil)
  }
}
