import PosixKit
import TestSupport
import Testing

@Suite struct EventLoopTests {
  private final class Token: Sendable {}

  private func ended() throws -> EventLoop {
    let loop = try EventLoop()
    let hasEnded = Monitor(false)
    PosixThread.start("loop") {
      loop.run()
      hasEnded.withLockNotifying { $0 = true }
    }
    loop.stop()
    #expect(hasEnded.wait(until: .after(patience)) { $0 ? true : nil } == true)
    return loop
  }

  @Test func whatComesAfterTheEndIsLetGoOf() throws {
    let loop = try ended()
    weak var token: Token?
    do {
      let held = Token()
      token = held
      // As sessions do: it holds the loop too.
      loop.async { [held, loop] in withExtendedLifetime((held, loop)) {} }
    }
    #expect(token == nil)
  }
}
