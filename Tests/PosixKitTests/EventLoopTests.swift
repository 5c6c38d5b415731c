import Glibc
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

extension EventLoopTests {
  /// Two descriptors are ready at once. The first handler closes the second one, and gives its number to another file.
  @Test func anEventOfAClosedDescriptorDoesNotReachTheNextOneOfItsNumber() throws {
    let loop = try EventLoop()
    let first = try Pipe()
    let second = try Pipe()
    let silent = try Pipe()
    for pipe in [first.writer.rawValue, second.writer.rawValue] { write(pipe, "x", 1) }
    let number = second.reader.rawValue
    let heard = Monitor<[String]>([])
    loop.watch(first.reader.rawValue, .readable) { [unowned loop, other = silent.reader.rawValue] _ in
      heard.withLock { $0.append("first") }
      loop.unwatch(number)
      dup2(other, number)
      loop.watch(number, .readable) { _ in heard.withLock { $0.append("stale") } }
      loop.soon { loop.soon { loop.stop() } }
      loop.unwatch(first.reader.rawValue)
    }
    loop.watch(number, .readable) { _ in heard.withLock { $0.append("second") } }
    loop.run()
    #expect(heard.withLock { $0 } == ["first"])
  }

  @Test func timersRunInTheOrderOfTheirTimesAndCancelledOnesNever() throws {
    let loop = try EventLoop()
    let heard = Monitor<[Int]>([])
    let now = MonotonicTime.now
    var cancelled: [EventLoop.Timer] = []
    for number in [5, 2, 4, 1, 3, 2] {
      loop.schedule(at: now.adding(Double(number) / 1000)) { heard.withLock { $0.append(number) } }
      cancelled.append(loop.schedule(at: now.adding(0.0025)) { heard.withLock { $0.append(-number) } })
    }
    for timer in cancelled { loop.cancel(timer) }
    loop.schedule(at: now.adding(0.006)) { [unowned loop] in loop.stop() }
    loop.run()
    #expect(heard.withLock { $0 } == [1, 2, 2, 3, 4, 5])
  }
}
