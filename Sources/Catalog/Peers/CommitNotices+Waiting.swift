internal import Glibc
internal import PosixKit

extension CommitNotices {
  /// Seconds between two questions to a peer that has not answered: its queue may have been full.
  private static let patience = 0.1

  /// Waits until every process that shows the catalogue has seen all commits up to `commit`. One that dies
  /// meanwhile is not waited for.
  /// - Returns: false where one of them has not within `seconds`.
  func waitForPeers(_ commit: Int64, seconds: Double) -> Bool {
    var peers = Set(sockets.peers(except: nil))
    if peers.isEmpty { return true }
    sockets.removeDeadWaiters()
    let name = PeerSockets.ownName(isWaiting: true)
    guard let socket = try? sockets.bind(name) else { return false }
    defer { sockets.remove(name) }
    let deadline = MonotonicTime.after(seconds)
    while !peers.isEmpty {
      peers = peers.filter { sockets.send(.ask(commit: commit, socket: name), to: $0) }
      let next = min(MonotonicTime.after(Self.patience), deadline)
      while !peers.isEmpty, MonotonicTime.now < next {
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        poll(&polled, 1, next.pollTimeout)
        while let message = PeerSockets.receive(socket.rawValue) {
          if case .seen(let seen, let peer) = message, seen >= commit { peers.remove(peer) }
        }
      }
      if MonotonicTime.now >= deadline { return peers.isEmpty }
    }
    return true
  }
}
