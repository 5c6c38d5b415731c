internal import Glibc
internal import PosixKit

/// Tells the observers of this process of commits, by this process and by others, in the order of their numbers;
/// wakes the other processes of ours for its own. Nobody polls: a thread sleeps until a datagram comes or this
/// process commits, then reads the log.
final class CommitNotices: Sendable {
  /// Is handed each commit with what is to be called when it has been seen.
  typealias Observer = @Sendable (CatalogCommit, _ done: @escaping @Sendable () -> Void) -> Void
  /// The log: the commits after a number; nil where it can't be read at this moment.
  typealias Log = @Sendable (_ after: Int64) -> [CatalogCommit]?

  private struct Entry: Sendable {
    let observer: Observer
  }

  private struct State: ~Copyable {
    var observers: [Entry] = []
    var seen = CommitsSeen()
    var ownName: String?
    /// The last commit of this process.
    var lastOwn: Int64 = 0
    var isStopped = false
  }

  let sockets: PeerSockets
  private let state = Monitor(State())
  private let wakeup: WakeupEvent?

  init(directory: String) {
    sockets = PeerSockets(directory: directory)
    wakeup = try? WakeupEvent()
  }

  /// - Parameters:
  ///   - first: commits after this one are told of; nil for those from now on.
  ///   - count: the count of commits by now.
  func observe(
    since first: Int64?, _ observer: @escaping Observer, count: @escaping @Sendable () -> Int64?,
    log: @escaping Log
  ) {
    let entry = Entry(observer: observer)
    let (isFirst, missed): (Bool, Int64?) = state.withLock { state in
      state.observers.append(entry)
      let isFirst = state.observers.count == 1 && !state.isStopped
      let delivered = state.seen.delivered
      return (isFirst, !isFirst && (first ?? delivered) < delivered ? delivered : nil)
    }
    if isFirst { start(since: first, count, log) }
    if let missed { observer(CatalogCommit(number: missed, changes: [.everything])) {} }
  }

  /// Wakes everybody after a commit of this process.
  func announce(_ commit: Int64) {
    let own = state.withLock { state in
      state.lastOwn = max(state.lastOwn, commit)
      return state.ownName
    }
    wakeup?.signal()
    for peer in sockets.peers(except: own) { sockets.send(.committed, to: peer) }
  }

  /// Calls `body` when the observers of this process have seen all that it has committed so far; at once where
  /// they have, or where there are none.
  func whenSeen(_ body: @escaping @Sendable () -> Void) {
    let ready = state.withLock { state -> [Callback<Void>] in
      if state.observers.isEmpty || state.isStopped { return [Callback(body)] }
      return state.seen.wait(for: state.lastOwn, Callback(body))
    }
    for body in ready { body() }
  }

  /// The socket by which this process hears of commits; nil before it does.
  var listeningName: String? { state.withLock { $0.ownName } }

  func stop() {
    let ready = state.withLock { state in
      state.isStopped = true
      state.observers = []
      return state.seen.end()
    }
    wakeup?.signal()
    for body in ready { body() }
  }

  /// Without a socket (no room, no permission) a process hears of its own commits only.
  private func start(since first: Int64?, _ count: @escaping @Sendable () -> Int64?, _ log: @escaping Log) {
    guard let wakeup else { return }
    let name = PeerSockets.ownName()
    var number: Int32 = -1
    do throws(PosixError) {
      let socket = try sockets.bind(name)
      number = socket.release()
    } catch {}
    // Counted after the socket is there: what is committed from now on is heard of.
    let begin = first ?? count() ?? 0
    state.withLock { state in
      state.ownName = name
      state.seen.start(at: begin)
    }
    if first != nil { wakeup.signal() }
    PosixThread.start("catalog-peers") { [self, number] in
      receive(number, name, wakeup, log)
      if number >= 0 { close(number) }
      sockets.remove(name)
    }
  }

  private func receive(_ socket: Int32, _ ownName: String, _ wakeup: WakeupEvent, _ log: Log) {
    var deadline = MonotonicTime.distantFuture
    while !state.withLock({ $0.isStopped }) {
      var polled = [
        pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      ]
      poll(&polled, 2, deadline.pollTimeout)
      wakeup.drain()
      var asks: [(commit: Int64, socket: String)] = []
      while socket >= 0, let message = PeerSockets.receive(socket) {
        if case .ask(let commit, let name) = message { asks.append((commit, name)) }
      }
      // A file that can't be read is looked at again a moment later.
      deadline = deliver(log) ? .distantFuture : .after(1)
      for ask in asks { answer(ask.commit, ask.socket, ownName) }
    }
  }

  /// - Returns: false where the log could not be read.
  private func deliver(_ log: Log) -> Bool {
    guard let commits = log(state.withLock { $0.seen.delivered }) else { return false }
    for commit in commits {
      let observers = state.withLock { state in
        state.seen.deliver(commit.number, observers: state.observers.count)
        return state.observers
      }
      for entry in observers { entry.observer(commit) { [self] in done(commit.number) } }
      if observers.isEmpty { for body in state.withLock({ $0.seen.ready() }) { body() } }
    }
    return true
  }

  private func done(_ commit: Int64) {
    for body in state.withLock({ $0.seen.done(commit) }) { body() }
  }

  private func answer(_ commit: Int64, _ socket: String, _ ownName: String) {
    let ready = state.withLock { state in
      state.seen.wait(
        for: commit,
        Callback { [sockets] in sockets.send(.seen(commit: commit, socket: ownName), to: socket) })
    }
    for body in ready { body() }
  }
}
