package import PodcastModel
internal import PosixKit

/// Threads that wait for the disk. Jobs of one lane run in order, one at a time; no lane waits for another: there
/// are as many threads as lanes that have something to do, up to a bound.
package final class DiskPool: Sendable {
  package enum Lane: Hashable, Sendable {
    /// An episode's files: opened, written, closed.
    case files(MediaKey)
    /// Its bytes on their way from the page cache to the disk.
    case flush(MediaKey)
    /// Its names being taken away.
    case names(MediaKey)
    /// What is remembered of all.
    case store
    case log
    /// What concerns the whole cache.
    case cache
    /// Which episodes are the same audio.
    case twins
  }

  private struct State: ~Copyable {
    var jobs: [Lane: [Callback<Void>]] = [:]
    /// Lanes that have jobs, and no thread.
    var ready: [Lane] = []
    var threads = 0
    var sleeping = 0
    var flushing = 0
    /// Whether a thread waits to see whether the others manage.
    var isHesitating = false
    /// Jobs that have not ended.
    var left = 0
  }
  private let state = Monitor(State())

  /// Threads that are started at once, and the most that there are where the disk is slow: a file that is being
  /// fetched has one.
  private static let fewThreads = 4
  private static let mostThreads = 64
  /// Flushes take longest, and nobody waits for them.
  private static let mostFlushing = 4
  /// Seconds that a thread waits for something to do, and before it helps the first few.
  private static let patience = 2.0
  private static let hesitation = 0.02

  /// Starts a thread, where the system gives one.
  package typealias Starter = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool
  private let starter: Starter

  /// - Parameter starter: another way to start threads than `PosixThread`.
  package init(starter: @escaping Starter = { PosixThread.attempt("disk", stackSize: 256 << 10, $0) }) {
    self.starter = starter
  }

  /// Runs `job` after those that `lane` has.
  package func run(_ lane: Lane, _ job: @escaping @Sendable () -> Void) {
    let need = state.withLockNotifyingOne { state in
      state.left += 1
      if state.jobs[lane]?.append(Callback(job)) != nil { return Need.none }
      state.jobs[lane] = [Callback(job)]
      state.ready.append(lane)
      return Self.need(&state)
    }
    start(need)
  }

  private enum Need { case none, thread, hesitant }

  private static func need(_ state: inout State) -> Need {
    guard state.sleeping < state.ready.count else { return .none }
    if state.threads < fewThreads {
      state.threads += 1
      return .thread
    }
    guard state.threads < mostThreads, !state.isHesitating else { return .none }
    state.isHesitating = true
    return .hesitant
  }

  /// Where the system gives no thread (`ulimit -u`) those that run do the work; where there is none, whoever has given
  /// it does, and waits for the disk.
  private func start(_ need: Need) {
    switch need {
    case .none: break
    case .thread:
      if starter({ self.work() }) { return }
      let isAlone = state.withLock { state in
        if state.threads == 1 { return true }
        state.threads -= 1
        return false
      }
      if isAlone { work(patience: 0) }
    case .hesitant:
      if starter({ self.help() }) { return }
      state.withLock { $0.isHesitating = false }
    }
  }

  /// Works where the others are busy for long: a slow disk.
  private func help() {
    _ = state.wait(until: .after(Self.hesitation)) { $0.ready.isEmpty ? true : nil }
    let (isNeeded, more) = state.withLock { state in
      state.isHesitating = false
      guard state.sleeping < state.ready.count else { return (false, Need.none) }
      state.threads += 1
      // This one takes one of them.
      return (true, state.ready.count > 1 ? Self.need(&state) : .none)
    }
    start(more)
    if isNeeded { work() }
  }

  /// Whether nothing is left to do.
  package var isIdle: Bool { state.withLock { $0.left == 0 } }

  private func work(patience: Double = DiskPool.patience) {
    while let (lane, job) = next(patience) {
      job()
      state.withLock { Self.end(lane, &$0) }
    }
  }

  /// The next job, with its lane taken; nil where the thread may end.
  private func next(_ patience: Double) -> (lane: Lane, job: Callback<Void>)? {
    let found = state.withLock { state in
      let found = Self.take(&state)
      if found == nil { state.sleeping += 1 }
      return found
    }
    if let found { return found }
    let later = state.wait(until: .after(patience)) { Self.take(&$0) }
    return state.withLock { state in
      state.sleeping -= 1
      // What came when it had just given up has started no other.
      let last = later ?? Self.take(&state)
      if last == nil { state.threads -= 1 }
      return last
    }
  }

  private static func take(_ state: inout State) -> (lane: Lane, job: Callback<Void>)? {
    let mayFlush = state.flushing < mostFlushing
    guard let index = state.ready.firstIndex(where: { mayFlush || !$0.isFlush }) else { return nil }
    let lane = state.ready.remove(at: index)
    guard let job = state.jobs[lane]?.removeFirst() else { return nil }
    if lane.isFlush { state.flushing += 1 }
    return (lane, job)
  }

  private static func end(_ lane: Lane, _ state: inout State) {
    state.left -= 1
    if lane.isFlush { state.flushing -= 1 }
    if state.jobs[lane]?.isEmpty == false { state.ready.append(lane) } else { state.jobs[lane] = nil }
  }
}

extension DiskPool.Lane {
  fileprivate var isFlush: Bool { if case .flush = self { true } else { false } }
}
