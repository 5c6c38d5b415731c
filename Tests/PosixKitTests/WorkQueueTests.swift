import PosixKit
import TestSupport
import Testing

@Suite struct WorkQueueTests {
  private func threads(_ name: String) -> Int {
    let tasks = (try? Directories.names(in: "/proc/self/task")) ?? []
    return tasks.count { task in
      let bytes = (try? Directories.read("/proc/self/task/\(task)/comm")) ?? []
      return String(decoding: bytes, as: UTF8.self) == name + "\n"
    }
  }

  @Test func oneThreadRunsBlocksInTheOrderInWhichTheyCame() {
    let queue = WorkQueue(name: "in-order")
    let seen = Monitor<[Int]>([])
    for number in 0..<1000 { queue.async { seen.withLockNotifying { $0.append(number) } } }
    #expect(seen.wait(until: .after(patience)) { $0.count == 1000 ? true : nil } == true)
    #expect(seen.withLock { $0 } == Array(0..<1000))
    #expect(threads("in-order") == 1)
  }

  @Test func aQueueHasNoThreadBeforeThereIsSomethingToRun() {
    let queue = WorkQueue(name: "not-yet", threads: 3)
    #expect(threads("not-yet") == 0)
    queue.async(after: 3600) {}
    #expect(eventually { threads("not-yet") == 1 })
    queue.stop()
    #expect(eventually { threads("not-yet") == 0 })
  }

  @Test func severalThreadsRunBlocksAtOnce() {
    let queue = WorkQueue(name: "at-once", threads: 3)
    let running = Monitor(0)
    for _ in 0..<3 {
      queue.async {
        running.withLockNotifying { $0 += 1 }
        _ = running.wait(until: .after(patience)) { $0 == 3 ? true : nil }
      }
    }
    #expect(running.wait(until: .after(patience)) { $0 == 3 ? true : nil } == true)
  }

  @Test func aBlockWhoseTimeComesEarlierRunsFirst() {
    let queue = WorkQueue(name: "timed")
    let seen = Monitor<[String]>([])
    queue.async(after: 0.2) { seen.withLockNotifying { $0.append("late") } }
    queue.async(after: 0.05) { seen.withLockNotifying { $0.append("early") } }
    #expect(seen.wait(until: .after(patience)) { $0.count == 2 ? true : nil } == true)
    #expect(seen.withLock { $0 } == ["early", "late"])
  }

  @Test func whatWasThereBeforeTheEndRunsAndNothingAfterIt() {
    let queue = WorkQueue(name: "ending")
    let seen = Monitor<[String]>([])
    queue.async(after: 3600) { seen.withLock { $0.append("timed") } }
    queue.async { seen.withLockNotifying { $0.append("before") } }
    queue.stop()
    queue.async { seen.withLock { $0.append("after") } }
    #expect(seen.wait(until: .after(patience)) { $0.isEmpty ? nil : true } == true)
    #expect(eventually { threads("ending") == 0 })
    #expect(seen.withLock { $0 } == ["before"])
  }
}
