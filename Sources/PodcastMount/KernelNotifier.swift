internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Tells the kernel what it has to forget.
///
/// Attributes and listings are told one after the other on a thread of their own: that waits for nobody. A name
/// waits for its directory's lock, which a program may hold for long (a search that is being made); so names are
/// told in order for each directory, by threads of which one can be held up without holding up another directory.
final class KernelNotifier: Sendable {
  private struct Waiter {
    var isPlainDone = false
    /// Directories of which names are still to be told, each up to this count.
    var names: [NodeID: Int] = [:]
    let body: @Sendable () -> Void
  }
  private struct State {
    var session: FuseSession?
    var pending: [NodeID: [String]] = [:]
    /// Directories that wait for a thread, in order.
    var ready: [NodeID] = []
    var active: Set<NodeID> = []
    /// How many names of a directory have been given, and told; as long as some are left.
    var given: [NodeID: Int] = [:]
    var told: [NodeID: Int] = [:]
    var threads = 0
    var isWatched = false
    var waiters: [UInt64: Waiter] = [:]
    var nextWaiter: UInt64 = 1
  }
  private let state = Monitor(State())
  private let numbers: KernelNumbers
  private let plain = WorkQueue(name: "notifier")
  /// More directories than this whose lock is held at once hold up others.
  private static let threadLimit = 32

  init(_ numbers: KernelNumbers) { self.numbers = numbers }

  func attach(_ session: FuseSession?) { state.withLock { $0.session = session } }

  func tell(_ difference: Difference) {
    let names =
      difference.filled.isEmpty
      ? difference.names : difference.names.filter { !difference.filled.contains($0.directory) }
    if !names.isEmpty { tellNames(names) }
    if difference.attributes.isEmpty && difference.listings.isEmpty { return }
    plain.async { [self] in
      guard let session = state.withLock({ $0.session }) else { return }
      for node in Set(difference.attributes) { session.invalidate(node: numbers.number(node), data: false) }
      for node in Set(difference.listings) { session.invalidate(node: numbers.number(node), data: true) }
    }
  }

  /// At once, on the calling thread: before an answer that depends on it.
  func forgetAttributes(of node: UInt64) {
    state.withLock { $0.session }?.invalidate(node: node, data: false)
  }

  /// At once, on the calling thread: it waits for the directory's lock.
  func forget(_ name: String, in directory: NodeID) {
    state.withLock { $0.session }?.invalidate(name: name, in: numbers.number(directory))
  }

  func forgetListing(of node: NodeID) {
    plain.async { [self] in state.withLock { $0.session }?.invalidate(node: numbers.number(node), data: true)
    }
  }

  /// Calls `body` when all that was given before has been told, but for names in `directories`.
  func settle(except directories: Set<NodeID>, _ body: @escaping @Sendable () -> Void) {
    let number = state.withLock { state in
      let number = state.nextWaiter
      state.nextWaiter += 1
      var waiter = Waiter(body: body)
      for (node, count) in state.given where !directories.contains(node) { waiter.names[node] = count }
      state.waiters[number] = waiter
      return number
    }
    plain.async { [self] in
      let done = state.withLock { state in
        state.waiters[number]?.isPlainDone = true
        return Self.takeDone(&state)
      }
      for body in done { body() }
    }
  }

  private static func takeDone(_ state: inout State) -> [@Sendable () -> Void] {
    let done = state.waiters.filter { $0.value.isPlainDone && $0.value.names.isEmpty }
    for number in done.keys { state.waiters[number] = nil }
    return done.sorted { $0.key < $1.key }.map(\.value.body)
  }

  /// Names that have not been told yet, and who waits for that.
  var count: Int { state.withLock { $0.given.count + $0.waiters.count } }

  // MARK: Names

  private func tellNames(_ names: [Difference.Name]) {
    let needsThread = state.withLockNotifyingOne { state in
      guard state.session != nil else { return false }
      for name in names {
        let node = name.directory
        if state.pending[node] == nil && !state.active.contains(node) { state.ready.append(node) }
        state.pending[node, default: []].append(name.name)
        state.given[node, default: 0] += 1
      }
      return Self.takesThread(&state)
    }
    if needsThread { startThread() }
    watch()
  }

  /// Whether a further thread is to be started: all that run have a directory.
  private static func takesThread(_ state: inout State) -> Bool {
    guard !state.ready.isEmpty, state.threads == state.active.count, state.threads < threadLimit else {
      return false
    }
    state.threads += 1
    return true
  }

  private func startThread() {
    let isStarted = PosixThread.attempt("names", stackSize: 128 * 1024) { [self] in
      // Whoever holds a directory's lock may wait for the next process to answer.
      if let session = state.withLock({ $0.session }) {
        PosixThread.leaveDescriptors(but: session.connection)
      }
      serve(waiting: Self.idleTime)
    }
    if !isStarted { plain.async { [self] in serve(waiting: 0) } }
  }

  /// A thread that is held up leaves others' directories waiting: these get another one.
  private func watch() {
    let isNew = state.withLock { state in
      if state.isWatched || state.ready.isEmpty { return false }
      state.isWatched = true
      return true
    }
    guard isNew else { return }
    plain.async(after: 0.02) { [self] in
      let needsThread = state.withLock { state in
        state.isWatched = false
        return Self.takesThread(&state)
      }
      if needsThread { startThread() }
      watch()
    }
  }

  /// In seconds: programs give one order after the other.
  private static let idleTime = 2.0

  /// Tells names, and ends when there have been none for a while.
  private func serve(waiting idleTime: Double) {
    while true {
      let work = state.wait(until: .after(idleTime)) { state -> (NodeID, [String], FuseSession?)? in
        guard let node = state.ready.first else { return nil }
        state.ready.removeFirst()
        state.active.insert(node)
        return (node, state.pending.removeValue(forKey: node) ?? [], state.session)
      }
      guard let (node, names, session) = work else {
        let ends = state.withLock { state in
          if state.ready.isEmpty { state.threads -= 1 }
          return state.ready.isEmpty
        }
        if ends { return } else { continue }
      }
      for name in names { session?.invalidate(name: name, in: numbers.number(node)) }
      let isSettled = state.withLock { state in
        Self.finish(node, names.count, &state)
        return state.waiters.values.contains { $0.isPlainDone && $0.names.isEmpty }
      }
      if isSettled { plain.async { [self] in settleDone() } }
    }
  }

  /// Not on the threads that tell names: these have no descriptor but the connection.
  private func settleDone() {
    for body in state.withLock({ Self.takeDone(&$0) }) { body() }
  }

  private static func finish(_ node: NodeID, _ count: Int, _ state: inout State) {
    state.active.remove(node)
    if state.pending[node] != nil { state.ready.append(node) }
    let told = (state.told[node] ?? 0) + count
    state.told[node] = told
    for number in state.waiters.keys where (state.waiters[number]?.names[node] ?? .max) <= told {
      state.waiters[number]?.names[node] = nil
    }
    if told == state.given[node] {
      state.told[node] = nil
      state.given[node] = nil
    }
  }
}
