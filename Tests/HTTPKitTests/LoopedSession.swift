import HTTPKit
import PosixKit
import TestSupport
import Testing

/// A session on a loop's thread, as the transfer daemon has it.
final class LoopedSession: Sendable {
  /// Used on the loop's thread only: that makes it Sendable.
  private struct Held: @unchecked Sendable { let session: HTTPSession }

  let loop: EventLoop
  private let held: Held

  init() throws {
    loop = try EventLoop()
    held = Held(session: HTTPSession(loop: loop))
    PosixThread.start("session") { [loop, held] in
      HTTPSession.blockBrokenPipeSignal()
      loop.run()
      held.session.stop()
    }
  }

  deinit { loop.stop() }

  /// Runs `body` on the loop's thread, and waits for it.
  func run<R: Sendable>(_ body: @escaping @Sendable (HTTPSession) -> R) throws -> R {
    let result = Monitor<R?>(nil)
    loop.async { [held] in
      let value = body(held.session)
      result.withLockNotifying { $0 = value }
    }
    return try #require(result.wait(until: .after(patience)) { $0 })
  }

  func start(_ request: HTTPRequest, _ receiver: RecordingReceiver) throws -> HTTPSession.TaskID {
    try run { session in
      defer { session.begin() }
      return session.start(request, receiver: receiver)
    }
  }

  // On the loop's thread, as from within a receiver.
  func pause(_ id: HTTPSession.TaskID) { held.session.pause(id) }
  func resume(_ id: HTTPSession.TaskID) { held.session.resume(id) }
}
