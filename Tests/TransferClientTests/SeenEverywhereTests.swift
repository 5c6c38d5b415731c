import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What one client has ordered is seen by all others when the order has ended.
@Suite struct SeenEverywhereTests {
  let user: TransferFixture

  init() throws { user = try TransferFixture() }

  /// Waits until a client has heard all from the daemon that runs.
  private func isJoined(_ client: TransferClient) -> Bool {
    let isCurrent = Monitor(false)
    client.whenCurrent { isCurrent.withLockNotifying { $0 = true } }
    return isCurrent.wait(until: .after(patience)) { $0 ? true : nil } == true
  }

  @Test func anOrderEndsWhenTheOthersShowIt() throws {
    let request = user.serve(TestBody(seed: 1, size: 100_000))
    let client = try user.client()
    #expect(client.confirmed { $0.pause(request, completion: $1) })
    let other = try user.client()
    let shown = Monitor<[Callback<Void>]>([])
    other.observe { _ in
    } settle: { done in
      shown.withLockNotifying { $0.append(Callback(done)) }
    }
    #expect(isJoined(other))
    #expect(other.status(of: request.key)?.state == .paused)
    let isDone = Monitor(false)
    client.drop(request.key) { _ in isDone.withLockNotifying { $0 = true } }
    let done = try #require(shown.wait(until: .after(patience)) { $0.first })
    // It has been told, and does not show it yet.
    #expect(other.status(of: request.key)?.state == .remote)
    #expect(!isDone.withLock { $0 })
    done()
    #expect(isDone.wait(until: .after(patience)) { $0 ? true : nil } == true)
  }

  /// A mount that is stopped, or has no time, holds nobody up for long, and not each time.
  @Test func whoDoesNotAnswerIsNotWaitedForAgain() throws {
    let request = user.serve(TestBody(seed: 2, size: 100_000))
    let client = try user.client()
    #expect(client.confirmed { $0.pause(request, completion: $1) })
    let other = try user.client()
    let asked = Monitor<[Callback<Void>]>([])
    other.observe { _ in
    } settle: { done in
      asked.withLockNotifying { $0.append(Callback(done)) }
    }
    #expect(isJoined(other))
    #expect(other.status(of: request.key)?.state == .paused)
    for _ in 0..<20 {
      #expect(client.confirmed { $0.drop(request.key, completion: $1) })
      #expect(client.confirmed { $0.pause(request, completion: $1) })
    }
    #expect(asked.withLock { $0.count } == 1)
    // Once it has answered it is asked again.
    asked.withLock { $0.removeFirst() }()
    #expect(
      eventually {
        client.confirmed { $0.drop(request.key, completion: $1) } && asked.withLock { $0.count } > 0
      })
  }

  @Test func whoGoesIsNotWaitedFor() throws {
    let request = user.serve(TestBody(seed: 3, size: 100_000))
    let client = try user.client()
    #expect(client.confirmed { $0.pause(request, completion: $1) })
    let other = try user.client()
    let isAsked = Monitor(false)
    other.observe { _ in
    } settle: { _ in
      isAsked.withLockNotifying { $0 = true }
    }
    #expect(isJoined(other))
    #expect(other.status(of: request.key)?.state == .paused)
    let isDone = Monitor(false)
    client.drop(request.key) { _ in isDone.withLockNotifying { $0 = true } }
    #expect(isAsked.wait(until: .after(patience)) { $0 ? true : nil } == true)
    other.stop()
    #expect(isDone.wait(until: .after(patience)) { $0 ? true : nil } == true)
  }
}
