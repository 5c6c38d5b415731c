internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// What the kernel caches of the tree, and the notifications that make it forget: see Documentation/Internals/caching.md.
///
/// The thread that may wait for a folder's lock has no descriptor but the connection: it outlives its killed process, and
/// the next process answers the request that holds the lock.
final class KernelCache: Sendable {
  private struct State {
    var session: FuseSession?
    /// Until when the kernel's copy of a folder's listing is right.
    var listings: [NodeID: MonotonicTime] = [:]
  }
  private let state = Monitor(State())
  private let inFlight: InFlightOperations
  private let prompt = WorkQueue(name: "kernel", stackSize: 128 * 1024, isPermanent: true)
  /// Forgets names in folders that a request holds, and pages.
  private let held: WorkQueue
  private let timer = WorkQueue(name: "kernel-timer", stackSize: 128 * 1024)
  private let connection: Monitor<Int32>
  /// Seconds that a verb waits for its notifications: a request that came just now may hold one of the folders.
  private static let patience = 0.1
  /// At most so many folders are remembered. Then all are forgotten, and the kernel asks for their listings again.
  private static let listingLimit = 2000

  init(_ inFlight: InFlightOperations) {
    self.inFlight = inFlight
    let connection = Monitor<Int32>(-1)
    self.connection = connection
    held = WorkQueue(name: "kernel-held", stackSize: 128 * 1024) {
      PosixThread.leaveDescriptors(but: connection.withLock { $0 })
    }
  }

  /// - Parameter session: nil from when the mount goes: nothing is sent from then on.
  func attach(_ session: FuseSession?) {
    state.withLock { $0.session = session }
    guard let number = session?.connection else { return }
    connection.withLock { $0 = number }
    prompt.async { PosixThread.leaveDescriptors(but: number) }
  }

  private var session: FuseSession? { state.withLock { $0.session } }

  /// Sends what is different. Names that have appeared are not kept by the kernel: it keeps no failed lookups.
  func send(_ difference: Difference) {
    let names = inFlight.others(of: difference.names).filter { $0.event != .appeared }
    let (nodes, folders) = (Set(difference.attributes), Set(difference.listings))
    state.withLock { state in
      for folder in folders { state.listings[folder] = nil }
      for name in names { state.listings[name.directory] = nil }
    }
    if !difference.bytes.isEmpty {
      let bytes = Set(difference.bytes)
      held.async { [self] in for node in bytes { session?.invalidate(node: node.rawValue, data: true) } }
    }
    if names.isEmpty && nodes.isEmpty && folders.isEmpty { return }
    prompt.async { [self] in
      for node in nodes.subtracting(folders) { session?.invalidate(node: node.rawValue, data: false) }
      for folder in folders { session?.invalidate(node: folder.rawValue, data: true) }
      let isHeld = Dictionary(grouping: names) { inFlight.holds($0.directory) }
      if let names = isHeld[true] { held.async { [self] in forget(names) } }
      forget(isHeld[false] ?? [])
    }
  }

  private func forget(_ names: [Difference.Name]) {
    for name in names { session?.invalidate(name: name.name, in: name.directory.rawValue) }
  }

  /// Calls `body` once, when all that was given to `send` before has been sent, but for what has to wait for a lock.
  func whenSent(_ body: @escaping @Sendable () -> Void) {
    let first = Monitor<Callback<Void>?>(Callback(body))
    let run: @Sendable () -> Void = { first.withLock { $0.take() }?() }
    prompt.async(run)
    timer.async(after: Self.patience, run)
  }

  /// At once, on the calling thread: before an answer that depends on it.
  func forgetAttributes(of node: UInt64) { session?.invalidate(node: node, data: false) }

  /// When the folder's lock is free.
  func forgetLater(_ name: String, in folder: UInt64) {
    held.async { [self] in session?.invalidate(name: name, in: folder) }
  }

  /// At once, on the calling thread: it waits for the folder's lock.
  func forget(_ name: String, in folder: UInt64) { session?.invalidate(name: name, in: folder) }

  func hasListing(of folder: NodeID) -> Bool {
    state.withLock { state in state.listings[folder].map { $0 > .now } ?? false }
  }

  func noteListing(of folder: NodeID) {
    state.withLock { state in
      if state.listings.count >= Self.listingLimit { state.listings = [:] }
      state.listings[folder] = .after(NodeAttributes.lifetime)
    }
  }

  func forgetListing(of folder: NodeID) { state.withLock { $0.listings[folder] = nil } }
}

/// What the kernel's numbers of nodes stand for: the nodes themselves, but for two cases.
final class KernelNumbers: Sendable {
  private struct State {
    /// A search's result that rename(2) has moved to the subscriptions. The kernel keeps the result's number for the folder
    /// until it looks the name up again, and longer for programs that work in the folder.
    var moved: [NodeID: NodeID] = [:]
    /// When a folder came back under its number, in nanoseconds since 1970.
    var generations: [NodeID: UInt64] = [:]
  }
  private let state = Monitor(State())
  func move(_ result: NodeID, to subscription: NodeID) { state.withLock { $0.moved[result] = subscription } }
  func restore(_ result: NodeID) { state.withLock { $0.moved[result] = nil } }

  func node(_ number: UInt64) -> NodeID {
    let node = NodeID(rawValue: number)
    return node.kind == .result ? state.withLock { $0.moved[node] ?? node } : node
  }

  /// A folder comes back under a number of which the kernel has an ended directory, or one in another place: as another
  /// generation (`fuse_entry_param`), or else the kernel would find that directory.
  func renew(_ node: NodeID) {
    state.withLock { $0.generations[node] = UInt64(max(0, FileTime.now.sinceEpoch)) }
  }

  func generation(of node: NodeID) -> UInt64 { state.withLock { $0.generations[node] ?? 0 } }
}
