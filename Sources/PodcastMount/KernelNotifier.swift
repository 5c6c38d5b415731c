internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Tells the kernel what it has to forget.
///
/// Attributes and listings are told one after the other on a thread of their own: that waits for nobody. A name
/// waits for its directory's lock: see `DirectoryThreads`.
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
    /// How many names of a directory have been given, and told; as long as some are left.
    var given: [NodeID: Int] = [:]
    var told: [NodeID: Int] = [:]
    var waiters: [UInt64: Waiter] = [:]
    var nextWaiter: UInt64 = 1
  }
  private let state = Monitor(State())
  private let numbers: KernelNumbers
  private let plain = WorkQueue(name: "notifier")
  private let threads: DirectoryThreads

  init(_ numbers: KernelNumbers) {
    self.numbers = numbers
    threads = DirectoryThreads("names", plain)
  }

  func attach(_ session: FuseSession?) { state.withLock { $0.session = session } }

  func tell(_ difference: Difference) {
    let names =
      difference.filled.isEmpty
      ? difference.names : difference.names.filter { !difference.filled.contains($0.directory) }
    if !names.isEmpty { tellNames(names) }
    let data = Set(difference.listings + difference.bytes)
    if difference.attributes.isEmpty && data.isEmpty { return }
    plain.async { [self] in
      guard let session = state.withLock({ $0.session }) else { return }
      for node in Set(difference.attributes) { session.invalidate(node: numbers.number(node), data: false) }
      for node in data { session.invalidate(node: numbers.number(node), data: true) }
    }
  }

  /// At once, on the calling thread: before an answer that depends on it.
  func forgetAttributes(of node: UInt64) {
    state.withLock { $0.session }?.invalidate(node: node, data: false)
  }

  /// At once, on the calling thread: it waits for the directory's lock.
  func forget(_ name: String, in directory: UInt64) {
    state.withLock { $0.session }?.invalidate(name: name, in: directory)
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
    let session = state.withLock { state in
      guard state.session != nil else { return state.session }
      for name in names {
        state.pending[name.directory, default: []].append(name.name)
        state.given[name.directory, default: 0] += 1
      }
      return state.session
    }
    guard let session else { return }
    threads.run(Set(names.map(\.directory)), connection: session.connection) { [self] in tellNames(of: $0) }
  }

  private func tellNames(of node: NodeID) {
    let (names, session) = state.withLock { ($0.pending.removeValue(forKey: node) ?? [], $0.session) }
    for name in names { session?.invalidate(name: name, in: numbers.number(node)) }
    let isSettled = state.withLock { state in
      Self.finish(node, names.count, &state)
      return state.waiters.values.contains { $0.isPlainDone && $0.names.isEmpty }
    }
    if isSettled { plain.async { [self] in settleDone() } }
  }

  /// Not on the threads that tell names: these have no descriptor but the connection.
  private func settleDone() {
    for body in state.withLock({ Self.takeDone(&$0) }) { body() }
  }

  private static func finish(_ node: NodeID, _ count: Int, _ state: inout State) {
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
