package import PodcastModel
internal import PosixKit

/// Serial queues for work that waits for the disk. The jobs of a lane run in order, one at a time. Lanes of one kind share
/// a few queues; those of different kinds never wait for each other.
package final class DiskPool: Sendable {
  package enum Lane: Hashable, Sendable {
    /// An episode's files: opened, written, closed, removed.
    case files(MediaKey)
    /// An episode's bytes on their way from the page cache to the disk.
    case flush(MediaKey)
    case store
    case log
    case cache
  }

  /// Sixteen for episodes' files; four for flushes, which take longest and nobody waits for; three for the others.
  private let queues = (0..<23).map { _ in DiskQueue() }

  package init() {}

  /// Runs `job` after those that `lane` has.
  package func run(_ lane: Lane, _ job: @escaping @Sendable () -> Void) {
    let number =
      switch lane {
      case .files(let key): Int(UInt(bitPattern: key.hashValue) % 16)
      case .flush(let key): 16 + Int(UInt(bitPattern: key.hashValue) % 4)
      case .store: 20
      case .log: 21
      case .cache: 22
      }
    queues[number].run(job)
  }

  package var isIdle: Bool { queues.allSatisfy(\.isIdle) }
}

/// Runs jobs one after the other, on a thread that begins with the first and ends when it has had none for two seconds.
private final class DiskQueue: Sendable {
  private struct State: ~Copyable {
    var jobs: [Callback<Void>] = []
    var hasThread = false
    var isWorking = false
  }
  private let state = Monitor(State())

  func run(_ job: @escaping @Sendable () -> Void) {
    // Only the queue's own thread waits for this condition.
    let needsThread = state.withLockNotifying(one: true) { state in
      state.jobs.append(Callback(job))
      defer { state.hasThread = true }
      return !state.hasThread
    }
    // Where the system gives no thread (`ulimit -u`), the caller does the work, and waits for the disk.
    if needsThread && !PosixThread.attempt("disk", stackSize: 256 << 10, { self.work(patience: 2) }) {
      work(patience: 0)
    }
  }

  private func work(patience: Double) {
    while true {
      let jobs = state.wait(until: .after(patience)) { state -> [Callback<Void>]? in
        state.isWorking = !state.jobs.isEmpty
        if state.jobs.isEmpty { return nil }
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in jobs ?? [] { job() }
      let ends = state.withLock { state in
        state.isWorking = false
        if jobs == nil && state.jobs.isEmpty { state.hasThread = false }
        return !state.hasThread
      }
      if ends { return }
    }
  }

  var isIdle: Bool { state.withLock { $0.jobs.isEmpty && !$0.isWorking } }
}
