internal import Glibc
internal import PosixKit

/// Wakes the observers of this process when it or another one has committed, and the other processes of ours for its own
/// commits. Nobody polls: a thread sleeps until a datagram comes or this process commits.
final class CommitNotices: Sendable {
  /// Reads the new commits, and calls `done` when it shows them.
  typealias Observer = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  private struct State: ~Copyable {
    var observers: [Observer] = []
    var ownName: String?
    var isStopped = false
  }

  let sockets: PeerSockets
  private let state = Monitor(State())
  private let wakeup: WakeupEvent?

  init(directory: String) {
    sockets = PeerSockets(directory: directory)
    wakeup = try? WakeupEvent()
  }

  /// The observer is called at once, too: something may have been committed since it last read.
  func observe(_ observer: @escaping Observer) {
    let isFirst = state.withLock { state in
      state.observers.append(observer)
      return state.observers.count == 1 && !state.isStopped
    }
    if isFirst { start() }
    wakeup?.signal()
  }

  /// Wakes everybody after a commit of this process.
  func announce() {
    let own = state.withLock { $0.ownName }
    wakeup?.signal()
    for peer in sockets.peers(except: own) { sockets.send(.committed, to: peer) }
  }

  /// The socket by which this process hears of commits; nil before it does.
  var listeningName: String? { state.withLock { $0.ownName } }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.observers = []
    }
    wakeup?.signal()
  }

  /// Without a socket (no room, no permission) a process hears of its own commits only.
  private func start() {
    guard let wakeup else { return }
    let name = PeerSockets.ownName()
    var number: Int32 = -1
    do throws(PosixError) {
      let socket = try sockets.bind(name)
      number = socket.release()
    } catch {}
    state.withLock { $0.ownName = name }
    PosixThread.start("catalog-peers") { [self, number] in
      receive(number, name, wakeup)
      if number >= 0 { close(number) }
      sockets.remove(name)
    }
  }

  private func receive(_ socket: Int32, _ ownName: String, _ wakeup: WakeupEvent) {
    while true {
      var polled = [
        pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      ]
      poll(&polled, 2, -1)
      wakeup.drain()
      var asks: [(commit: Int64, socket: String)] = []
      while socket >= 0, let message = PeerSockets.receive(socket) {
        if case .ask(let commit, let name) = message { asks.append((commit, name)) }
      }
      let observers = state.withLock { $0.isStopped ? nil : $0.observers }
      guard let observers else { return }
      let left = Monitor(observers.count)
      for observer in observers {
        observer { [sockets, asks] in
          let isLast = left.withLock { left in
            left -= 1
            return left == 0
          }
          // What was committed before the question is shown by now.
          if isLast {
            for ask in asks { sockets.send(.seen(commit: ask.commit, socket: ownName), to: ask.socket) }
          }
        }
      }
    }
  }
}
