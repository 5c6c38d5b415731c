internal import PosixKit

/// Detects sweeps: programs that open many episodes and read little of each (a library scan, `grep -r`, `file *`).
///
/// One open means download. But from the ninth episode within a minute that one process has opened and closed after it
/// read little, a download that only this process has asked for leaves the queue again. For a minute its opens of that
/// episode start no other: a program that looks at a file after each of its changes would go on for ever.
final class Sweeps: Sendable {
  private struct ShortRead {
    var closed: MonotonicTime
    /// One of the first: its download goes on.
    let stays: Bool
  }
  private struct State {
    var short: [Program: [Int64: ShortRead]] = [:]
    /// By episode: the only program that has started its download, by opening it, and when that left the queue.
    var askers: [Int64: (program: Program, left: MonotonicTime?)] = [:]

    /// The episodes of which a program has lately read little.
    func lately(_ program: Program) -> [Int64: ShortRead] {
      (short[program] ?? [:]).filter { MonotonicTime.now.seconds(since: $0.value.closed) < Sweeps.window }
    }
  }
  private let state = Monitor(State())
  /// So many episodes of a program go on, whatever it reads of them and however often it opens them.
  private static let allowed = 8
  /// In seconds.
  private static let window = 60.0
  private static let limit = 4096
  /// Programs that are remembered before those of earlier minutes are forgotten.
  private static let programs = 64

  /// - Parameter isNew: whether no download was under way.
  func opened(_ episode: Int64, by program: Program?, isNew: Bool) {
    state.withLock { state in
      let isOwn = state.askers[episode].map { $0.program == program && $0.left == nil } ?? false
      guard let program, isNew || isOwn else { return state.askers[episode] = nil }
      // Downloads that were forgotten here count as ordered by another program: they stay.
      if state.askers.count >= Self.limit { state.askers = [:] }
      state.askers[episode] = (program, nil)
    }
  }

  /// The user has marked, paused or ordered it: its download is no sweep's.
  func ordered(_ episode: Int64) { state.withLock { $0.askers[episode] = nil } }

  /// - Parameter isShort: whether little of it was read.
  /// - Returns: whether its download is to leave the queue, once nobody has it open.
  func closed(_ episode: Int64, by program: Program, isShort: Bool) -> Bool {
    state.withLock { state in
      var stays = true
      if isShort {
        var reads = state.lately(program)
        stays = reads[episode]?.stays ?? (reads.count < Self.allowed)
        reads[episode] = ShortRead(closed: .now, stays: stays)
        let others = reads.filter { !$0.value.stays }
        if others.count > Self.allowed {
          reads[others.min { $0.value.closed < $1.value.closed }?.key ?? episode] = nil
        }
        state.short[program] = reads
        if state.short.count > Self.programs {
          state.short = state.short.filter { [state] in !state.lately($0.key).isEmpty }
        }
      }
      if !stays { return state.askers[episode]?.program == program }
      state.askers[episode] = nil
      return false
    }
  }

  /// Whether a program has lately read little of so many episodes that it asks for no further one.
  func isSweep(_ program: Program?) -> Bool {
    program.map { program in state.withLock { $0.lately(program).count >= Self.allowed } } ?? false
  }

  /// Whether this program's download of it has lately left the queue.
  func isLetGo(_ episode: Int64, by program: Program?) -> Bool {
    let asker = state.withLock { $0.askers[episode] }
    return asker?.program == program
      && asker?.left.map { MonotonicTime.now.seconds(since: $0) < Self.window } ?? false
  }

  func leaves(_ episode: Int64) { state.withLock { $0.askers[episode]?.left = .now } }
}
