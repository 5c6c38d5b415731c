import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct MonitorTests {
  @Test func aWaiterIsWokenByTheChangeItWaitsFor() {
    let monitor = Monitor(0)
    PosixThread.start("adder") {
      for _ in 0..<1000 { monitor.withLockNotifying { $0 += 1 } }
    }
    let seen = monitor.wait(until: .after(patience)) { $0 == 1000 ? true : nil }
    #expect(seen == true)
  }

  @Test func aWaitEndsAtItsDeadline() {
    let monitor = Monitor(false)
    let start = MonotonicTime.now
    let seen: Bool? = monitor.wait(until: .after(0.05)) { $0 ? true : nil }
    #expect(seen == nil)
    #expect(MonotonicTime.now.seconds(since: start) >= 0.05)
  }

  /// Kept as `Monitor<(() -> Void)?>` it dies of a stack overflow in the last call.
  @Test func aCallbackThatIsReadAHundredThousandTimesIsCalledDirectly() {
    let frames = Monitor<[UInt]>([])
    let monitor = Monitor<Callback<Void>?>(nil)
    let callback = Callback<Void> {
      var here: UInt8 = 0
      let frame = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
      frames.withLock { $0.append(frame) }
    }
    monitor.withLock { $0 = callback }
    for time in 0...100_000 {
      let read = monitor.withLock { $0 }
      if time % 100_000 == 0 { read?() }
    }
    let seen = frames.withLock { $0 }
    #expect(seen.count == 2)
    #expect(Set(seen).count == 1)
  }

  @Test func bareFunctionsAreSeen() {
    #expect(Monitor<(@Sendable () -> Void)?>.holdsBareFunction)
    #expect(Monitor<(name: String, run: (Int) -> Int)>.holdsBareFunction)
    #expect(!Monitor<Callback<(Int, String)>?>.holdsBareFunction)
    #expect(!Monitor<[String: Int]>.holdsBareFunction)
  }
}
