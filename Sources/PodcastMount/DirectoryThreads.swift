internal import PodcastTree
internal import PosixKit

/// Does what waits for a directory's lock, which a program may hold for long (a search that is being made): in each
/// directory one thing after the other, on threads of which one can be held up without holding up another directory.
/// They have no descriptor but the connection: whoever holds a lock may wait for the next process to answer.
final class DirectoryThreads: Sendable {
  typealias Work = @Sendable (NodeID) -> Void

  private struct State {
    /// Directories that wait for a thread, in order.
    var ready: [NodeID] = []
    var active: Set<NodeID> = []
    /// Of the active ones, those in which there is more to do afterwards.
    var again: Set<NodeID> = []
    var threads = 0
    var isWatched = false
  }
  private let state = Monitor(State())
  private let name: String
  private let queue: WorkQueue
  /// More directories than this whose lock is held at once hold up others.
  private static let limit = 32
  /// In seconds: programs give one order after the other.
  private static let idleTime = 2.0

  /// - Parameters:
  ///   - name: the threads'.
  ///   - queue: looks after them, and does the work where the system gives no thread.
  init(_ name: String, _ queue: WorkQueue) {
    self.name = name
    self.queue = queue
  }

  /// Calls `work`, which is the same each time, for each of the directories.
  func run(_ directories: some Sequence<NodeID>, connection: Int32, _ work: @escaping Work) {
    let needsThread = state.withLockNotifyingOne { state in
      for directory in directories {
        if state.active.contains(directory) {
          state.again.insert(directory)
        } else if !state.ready.contains(directory) {
          state.ready.append(directory)
        }
      }
      return Self.takesThread(&state)
    }
    if needsThread { startThread(connection, work) }
    watch(connection, work)
  }

  /// Whether a further thread is to be started: all that run have a directory.
  private static func takesThread(_ state: inout State) -> Bool {
    guard !state.ready.isEmpty, state.threads == state.active.count, state.threads < limit else {
      return false
    }
    state.threads += 1
    return true
  }

  private func startThread(_ connection: Int32, _ work: @escaping Work) {
    let isStarted = PosixThread.attempt(name, stackSize: 128 * 1024) { [self] in
      PosixThread.leaveDescriptors(but: connection)
      serve(waiting: Self.idleTime, work)
    }
    if !isStarted { queue.async { [self] in serve(waiting: 0, work) } }
  }

  /// A thread that is held up leaves others' directories waiting: these get another one.
  private func watch(_ connection: Int32, _ work: @escaping Work) {
    let isNew = state.withLock { state in
      if state.isWatched || state.ready.isEmpty { return false }
      state.isWatched = true
      return true
    }
    guard isNew else { return }
    queue.async(after: 0.02) { [self] in
      let needsThread = state.withLock { state in
        state.isWatched = false
        return Self.takesThread(&state)
      }
      if needsThread { startThread(connection, work) }
      watch(connection, work)
    }
  }

  /// Works, and ends when there has been nothing to do for a while.
  private func serve(waiting idleTime: Double, _ work: Work) {
    while true {
      let next = state.wait(until: .after(idleTime)) { state -> NodeID? in
        guard let directory = state.ready.first else { return nil }
        state.ready.removeFirst()
        state.active.insert(directory)
        return directory
      }
      guard let directory = next else {
        let ends = state.withLock { state in
          if state.ready.isEmpty { state.threads -= 1 }
          return state.ready.isEmpty
        }
        if ends { return } else { continue }
      }
      work(directory)
      state.withLock { state in
        state.active.remove(directory)
        if state.again.remove(directory) != nil { state.ready.append(directory) }
      }
    }
  }
}
