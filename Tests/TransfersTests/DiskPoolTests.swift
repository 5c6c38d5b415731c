import PodcastModel
import PosixKit
import TestSupport
import Testing
import Transfers

/// Nobody waits for another one's disk.
@Suite struct DiskPoolTests {
  private func key(_ number: Int) -> MediaKey { MediaKey(address: "http://a.example/\(number)") }

  @Test func jobsOfALaneRunInOrder() {
    let pool = DiskPool()
    let done = Monitor<[Int]>([])
    for number in 0..<200 {
      pool.run(.files(key(0))) { done.withLockNotifying { $0.append(number) } }
    }
    #expect(done.wait(until: .after(patience)) { $0.count == 200 ? true : nil } == true)
    #expect(done.withLock { $0 } == Array(0..<200))
  }

  @Test func flushesAndTheStoreDoNotWaitForSlowFiles() {
    let pool = DiskPool()
    let gate = Monitor(false)
    let done = Monitor(0)
    for number in 0..<20 {
      pool.run(.files(key(number))) { _ = gate.wait(until: .after(patience)) { $0 ? true : nil } }
    }
    for lane in [DiskPool.Lane.store, .log, .cache, .flush(key(0)), .flush(key(20))] {
      pool.run(lane) { done.withLockNotifying { $0 += 1 } }
    }
    #expect(done.wait(until: .after(patience)) { $0 == 5 ? true : nil } == true)
    gate.withLockNotifying { $0 = true }
  }

  /// A lost wake-up delays the last job of a burst until a thread's patience ends, two seconds.
  @Test func theLastJobOfABurstIsNotForgotten() {
    let pool = DiskPool()
    let never = Monitor(false)
    let done = Monitor(0)
    var (given, slow) = (0, 0)
    @Sendable func work() {
      // A write to a disk.
      _ = never.wait(until: .after(0.004)) { $0 ? true : nil }
      done.withLockNotifying { $0 += 1 }
    }
    for round in 0..<40 {
      for job in 0..<4 + round % 4 {
        given += 1
        pool.run(.files(key(job))) { work() }
      }
      _ = never.wait(until: .after(0.001 + Double(round * 7 % 22) / 1000)) { $0 ? true : nil }
      given += 1
      let began = MonotonicTime.now
      pool.run(.files(key(100))) { work() }
      let all = given
      #expect(done.wait(until: .after(patience)) { $0 == all ? true : nil } == true)
      if MonotonicTime.now.seconds(since: began) > 1.5 { slow += 1 }
    }
    #expect(slow < 4)
  }
}
