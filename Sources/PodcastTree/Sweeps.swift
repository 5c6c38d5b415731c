internal import PosixKit

/// Tells a program that goes through many episodes and reads little of each (a library scan, `grep -r`, `file *`)
/// from one that wants them.
///
/// One open means download. But from the ninth open within a minute of one process that ended after little was
/// read, a download that only this process has asked for leaves the queue again, and for a minute its opens of that
/// episode ask for no other: a program that is told of each change of a file and looks again would go on for ever.
final class Sweeps: Sendable {
  private struct State {
    /// Programs that have read little of an episode, and when.
    var short: [Program: [MonotonicTime]] = [:]
    /// Episodes whose download one program alone has asked for, by opening them.
    var askers: [Int64: Asker] = [:]
    /// The order of `askers`, to bound them.
    var order: [Int64] = []
    /// The most that somebody has read of an episode through the kernel's pages, in bytes.
    var paged: [NodeID: Int64] = [:]
  }
  private struct Asker {
    var program: Program
    /// When the download left the queue.
    var left: MonotonicTime?
  }
  private let state = Monitor(State())
  /// So many opens of a program go on, whatever it reads of them.
  private static let allowed = 8
  /// In seconds.
  private static let window = 60.0
  /// Seconds in which a download that has left the queue may still seem to be in it. Many programs open a file again
  /// as soon as they have closed it.
  private static let lag = 2.0
  private static let limit = 4096

  /// - Parameter isNew: whether nobody had asked for its download before.
  func opened(_ episode: Int64, by program: Program?, isNew: Bool) {
    let now = MonotonicTime.now
    state.withLock { state in
      let asker = state.askers[episode]
      let isOwn = asker?.program == program && asker?.left.map { now.seconds(since: $0) < Self.lag } ?? true
      guard let program, isNew || isOwn else {
        state.askers[episode] = nil
        return
      }
      if state.askers.updateValue(Asker(program: program), forKey: episode) == nil {
        state.order.append(episode)
      }
      guard state.order.count > Self.limit else { return }
      state.order.removeFirst(Self.limit / 2)
      let kept = Set(state.order)
      state.askers = state.askers.filter { kept.contains($0.key) }
    }
  }

  /// How much somebody may have read who has asked for `count` bytes of a node: the kernel keeps the pages of what was
  /// read before, and asks for none of these again.
  func mayHaveRead(_ count: Int64, of node: NodeID) -> Int64 {
    state.withLock { state in
      let before = state.paged[node] ?? 0
      if count > before {
        if state.paged.count >= Self.limit { state.paged = [:] }
        state.paged[node] = count
      }
      return count == 0 ? before : count
    }
  }

  /// Somebody has marked, paused or ordered it.
  func ordered(_ episode: Int64) { state.withLock { _ = $0.askers.removeValue(forKey: episode) } }

  /// - Parameter isShort: whether little of it was read.
  /// - Returns: whether its download is to leave the queue, once nobody has it open.
  func closed(_ episode: Int64, by program: Program, isShort: Bool) -> Bool {
    let now = MonotonicTime.now
    return state.withLock { state in
      guard isShort else {
        state.askers[episode] = nil
        return false
      }
      var times = (state.short[program] ?? []).filter { now.seconds(since: $0) < Self.window }
      times.append(now)
      state.short[program] = times.suffix(Self.allowed + 1)
      if state.short.count > 64 {
        state.short = state.short.filter {
          $0.value.last.map { now.seconds(since: $0) < Self.window } ?? false
        }
      }
      return times.count > Self.allowed && state.askers[episode]?.program == program
    }
  }

  /// Whether its download has lately left the queue, which only this program had asked for.
  func isLetGo(_ episode: Int64, by program: Program?) -> Bool {
    state.withLock { state in
      guard let asker = state.askers[episode], asker.program == program, let left = asker.left else {
        return false
      }
      return MonotonicTime.now.seconds(since: left) < Self.window
    }
  }

  /// Its download leaves the queue.
  func left(_ episode: Int64) { state.withLock { $0.askers[episode]?.left = .now } }
}

/// Programs that were last seen doing something, so many of them.
final class RecentPrograms: Sendable {
  private let programs = Monitor<[Program]>([])
  private static let limit = 16

  func note(_ program: Program) {
    programs.withLock { programs in
      programs.removeAll { $0 == program }
      programs.append(program)
      if programs.count > Self.limit { programs.removeFirst() }
    }
  }

  func contains(_ program: Program) -> Bool { programs.withLock { $0.contains(program) } }
}
