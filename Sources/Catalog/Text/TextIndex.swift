internal import PosixKit

/// The full-text index of all that is known: filled behind what brings texts, by a process that lives long, and searched
/// for `source:local`.
final class TextIndex: Sendable {
  private struct State: ~Copyable {
    /// This process fills it; a command leaves that to others, or to the next search.
    var isFilledHere = false
    var isRunning = false
    /// Something has come meanwhile.
    var isWantedAgain = false
    var isStopped = false
  }

  let store: CatalogStore
  /// Where it is filled.
  private let queue: WorkQueue
  private let state = Monitor(State())

  init(store: CatalogStore, queue: WorkQueue) {
    self.store = store
    self.queue = queue
  }

  var isFilledHere: Bool { state.withLock { $0.isFilledHere } }

  /// From now on this process fills it.
  func fillHere() {
    state.withLock { $0.isFilledHere = true }
    fillBehind(after: Self.delay)
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// Puts what has no place in it yet into it, behind, if this process does that.
  func fill() {
    if isFilledHere { fillBehind(after: Self.delay) }
  }

  /// In seconds: who has opened a folder whose feed has come lists it first.
  private static let delay = 0.5

  /// Once at a time.
  func fillBehind(after delay: Double = 0) {
    let mayBegin = state.withLock { state in
      if state.isRunning { state.isWantedAgain = true }
      if state.isRunning || state.isStopped { return false }
      state.isRunning = true
      return true
    }
    guard mayBegin else { return }
    queue.async(after: delay) { [self] in
      repeat {
        // Where the file can't be written, the next refresh tries again.
        _ = try? TextIndexer(store: store).run(until: .distantFuture) { state.withLock { $0.isStopped } }
      } while goesOn()
    }
  }

  /// Waits until it is not being filled by this process.
  /// - Returns: false where it still is after `seconds`.
  func wait(seconds: Double) -> Bool {
    state.wait(until: .after(seconds)) { $0.isRunning ? nil : true } ?? false
  }

  /// Whether more has come since it began.
  private func goesOn() -> Bool {
    state.withLockNotifying { state in
      defer { state.isWantedAgain = false }
      state.isRunning = state.isWantedAgain && !state.isStopped
      return state.isRunning
    }
  }
}
