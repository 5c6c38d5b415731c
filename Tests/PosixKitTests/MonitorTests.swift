import Glibc
import PosixKit
import Testing

@Suite struct MonitorTests {
  @Test func aWaiterIsWokenByTheChangeItWaitsFor() {
    let monitor = Monitor(0)
    PosixThread.start("adder") {
      for _ in 0..<1000 { monitor.withLockNotifying { $0 += 1 } }
    }
    let seen = monitor.wait(until: .after(10)) { $0 == 1000 ? true : nil }
    #expect(seen == true)
  }

  @Test func aWaitEndsAtItsDeadline() {
    let monitor = Monitor(false)
    let start = MonotonicTime.now
    let seen: Bool? = monitor.wait(until: .after(0.05)) { $0 ? true : nil }
    #expect(seen == nil)
    #expect(MonotonicTime.now.seconds(since: start) >= 0.05)
  }
}
