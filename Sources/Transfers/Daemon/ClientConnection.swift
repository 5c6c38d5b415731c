internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// A client of the daemon. Belongs to the loop.
final class ClientConnection: EngineClient {
  private let socket: FileDescriptor
  private let loop: EventLoop
  private var incoming = FrameBuffer()
  private var outgoing: [UInt8] = []
  private var isClosed = false
  private var hasGreeted = false
  private(set) var observes = false
  private(set) var answersAddresses = false
  /// What came, and that the other end has gone.
  private let receive: (ClientConnection, ClientMessage) -> Void
  private let ended: (ClientConnection) -> Void

  /// A client that takes nothing while this much is due to it is let go: it asks again.
  private static let mostOutgoing = 64 << 20

  init(
    _ socket: consuming FileDescriptor, loop: EventLoop,
    receive: @escaping (ClientConnection, ClientMessage) -> Void, ended: @escaping (ClientConnection) -> Void
  ) {
    self.socket = socket
    self.loop = loop
    self.receive = receive
    self.ended = ended
    loop.watch(self.socket.rawValue, .readable) { [weak self] ready in self?.serve(ready) }
  }

  /// - Returns: whether it was the first time.
  func greet(observes: Bool, answersAddresses: Bool) -> Bool {
    defer { hasGreeted = true }
    self.observes = observes
    self.answersAddresses = answersAddresses
    return !hasGreeted
  }

  func send(_ message: DaemonMessage) {
    if isClosed { return }
    outgoing += message.frame
    if outgoing.count > Self.mostOutgoing { return close() }
    flush()
  }

  func close() {
    if isClosed { return }
    isClosed = true
    loop.unwatch(socket.rawValue)
    shutdown(socket.rawValue, Int32(SHUT_RDWR))
    ended(self)
  }

  private func serve(_ ready: EventLoop.Ready) {
    if ready.contains(.writable) { flush() }
    if !isClosed && !ready.isDisjoint(with: [.readable, .broken]) { read() }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while !isClosed {
      let count = recv(socket.rawValue, &buffer, buffer.count, 0)
      if count < 0 && Errno.current == .EINTR { continue }
      if count < 0 && Errno.current == .EAGAIN { return }
      if count <= 0 { return close() }
      incoming.append(buffer[..<count])
      do throws(FrameError) {
        while !isClosed, let message: ClientMessage = try incoming.next() { receive(self, message) }
      } catch {
        return close()
      }
      if count < buffer.count { return }
    }
  }

  private func flush() {
    while !outgoing.isEmpty {
      let count = Glibc.send(socket.rawValue, outgoing, outgoing.count, Int32(MSG_NOSIGNAL))
      if count < 0 && Errno.current == .EINTR { continue }
      if count < 0 && Errno.current == .EAGAIN { break }
      if count < 0 { return close() }
      outgoing.removeFirst(count)
    }
    loop.setInterest(socket.rawValue, outgoing.isEmpty ? .readable : [.readable, .writable])
  }
}
