import Configuration
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// A host that sends a little of each answer and then nothing, with readers of both ends of its file.
@Suite struct StalledHostTests {
  let user: TransferFixture
  let body = TestBody(seed: 91, size: 8_000_000)

  init() throws { user = try TransferFixture() }

  @Test(arguments: [600, 5_000, 70_000]) func noByteIsAskedForTwice(_ stall: Int64) throws {
    let request = user.serve(body, .with { $0.stallAfter = stall })
    let client = try user.client {
      $0.stallTimeout = 1
      $0.readTimeout = 20
    }
    let head = try client.opened(request)
    let tail = try client.opened(request)
    let ended = Monitor(0)
    for (episode, offset) in [
      (tail, body.size - 100), (head, 0), (tail, body.size - 131_072), (head, 131_072), (head, 65_536),
    ] {
      _ = episode.whenAvailable(at: offset, count: Int(min(body.size - offset, 65_536))) { failure in
        ended.withLockNotifying { $0 += failure == nil ? 1 : 0 }
      }
    }
    // The first answers and those after the stall.
    #expect(user.origin.wait { $0.count >= 4 })
    var sent = ByteRanges()
    for request in user.origin.requests {
      let start = Int64(request.range?.dropFirst(6).prefix { $0 != "-" } ?? "0") ?? 0
      #expect(sent.missing(in: start..<start + request.sent).reduce(0) { $0 + $1.count } == request.sent)
      sent.insert(start..<start + request.sent)
    }
    user.origin.change("/a.mp3") { $0.behaviour.stallAfter = nil }
    #expect(ended.wait(until: .after(patience)) { $0 == 5 ? true : nil } == true)
    #expect(body.firstDifference(try head.readAll()) == nil)
  }
}
