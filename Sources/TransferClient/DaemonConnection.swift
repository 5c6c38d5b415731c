internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// The socket to the daemon. Belongs to the loop.
final class DaemonConnection {
  private let socket: FileDescriptor
  private let loop: EventLoop
  private var incoming = FrameBuffer()
  private var outgoing: [UInt8] = []
  private var isClosed = false
  private let receive: (DaemonMessage) -> Void
  private let ended: () -> Void

  init(
    _ socket: consuming FileDescriptor, loop: EventLoop, receive: @escaping (DaemonMessage) -> Void,
    ended: @escaping () -> Void
  ) {
    self.socket = socket
    self.loop = loop
    self.receive = receive
    self.ended = ended
    loop.watch(self.socket.rawValue, .readable) { [weak self] ready in self?.serve(ready) }
  }

  func send(_ message: ClientMessage) {
    if isClosed { return }
    outgoing += message.frame
    flush()
  }

  /// Ends it without a word.
  func close() {
    if isClosed { return }
    isClosed = true
    loop.unwatch(socket.rawValue)
    shutdown(socket.rawValue, Int32(SHUT_RDWR))
  }

  private func lose() {
    if isClosed { return }
    close()
    ended()
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
      if count <= 0 { return lose() }
      incoming.append(buffer[..<count])
      do throws(FrameError) {
        while !isClosed, let message: DaemonMessage = try incoming.next() { receive(message) }
      } catch {
        return lose()
      }
      if count < buffer.count { return }
    }
  }

  private func flush() {
    while !outgoing.isEmpty {
      let count = Glibc.send(socket.rawValue, outgoing, outgoing.count, Int32(MSG_NOSIGNAL))
      if count < 0 && Errno.current == .EINTR { continue }
      if count < 0 && Errno.current == .EAGAIN { break }
      // What is lost is noticed by reading.
      if count < 0 { return }
      outgoing.removeFirst(count)
    }
    loop.setInterest(socket.rawValue, outgoing.isEmpty ? .readable : [.readable, .writable])
  }
}
