internal import PosixKit

/// The full-text index of all that is known: filled behind what brings texts, by a process that lives long, and searched
/// for `source:local`.
final class TextIndex: Sendable {
  private struct State: ~Copyable {
    /// This process fills it; a command leaves that to others, or to the next search.
    var isFilledHere = false
    /// Since when something has come that is not being put into it yet.
    var wantedSince: MonotonicTime?
    /// When that may begin.
    var due = MonotonicTime(nanoseconds: 0)
    var isRunning = false
    var isStopped = false

    /// - Returns: whether it begins now.
    mutating func begin() -> Bool {
      guard wantedSince != nil, !isRunning, !isStopped, due <= .now else { return false }
      wantedSince = nil
      isRunning = true
      return true
    }
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

  func stop() {
    state.withLockNotifying { state in
      state.isStopped = true
      state.wantedSince = nil
    }
  }

  /// Puts what has no place in it yet into it, behind, if this process does that.
  func fill() {
    if isFilledHere { fillBehind(after: Self.delay) }
  }

  /// In seconds since the last feed has come: who has opened its folder lists it first.
  private static let delay = 0.5
  /// Where feed after feed comes.
  private static let longestDelay = 5.0

  /// Once at a time.
  /// - Parameter delay: in seconds; 0 for who waits for it.
  func fillBehind(after delay: Double = 0) {
    state.withLock { state in
      if state.isStopped { return }
      let first = state.wantedSince ?? .now
      state.wantedSince = first
      state.due = min(.after(delay), first.adding(Self.longestDelay))
    }
    queue.async(after: delay) { [self] in
      guard state.withLock({ $0.begin() }) else { return }
      repeat {
        // Where the file can't be written, the next refresh tries again.
        _ = try? TextIndexer(store: store).run(until: .distantFuture) { state.withLock { $0.isStopped } }
      } while goesOn()
    }
  }

  /// Waits until it is not being filled by this process.
  /// - Returns: false where it still is after `seconds`.
  func wait(seconds: Double) -> Bool {
    state.wait(until: .after(seconds)) { $0.isRunning || $0.wantedSince != nil ? nil : true } ?? false
  }

  /// Whether more has come since it began; what is not due yet has a time of its own.
  private func goesOn() -> Bool {
    state.withLockNotifying { state in
      state.isRunning = false
      return state.begin()
    }
  }
}
