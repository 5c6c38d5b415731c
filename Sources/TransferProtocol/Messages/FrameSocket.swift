internal import Glibc
package import PodcastModel
package import PosixKit

/// One end of the connection between a client and the daemon. Belongs to the loop.
package final class FrameSocket<Incoming: FramedMessage> {
  private let socket: FileDescriptor
  private let loop: EventLoop
  private var incoming = FrameBuffer()
  /// Frames on their way, and how much of them has gone.
  private var outgoing: [UInt8] = []
  private var sent = 0
  package private(set) var isClosed = false
  private let receive: (Incoming) -> Void
  private let ended: () -> Void
  /// Makes more frames; asked before each sending, while less than `mostReady` waits.
  package var refill: () -> [UInt8] = { [] }

  /// Bytes made ready before the other end has taken what was.
  package static var mostReady: Int { 256 << 10 }

  /// - Parameter ended: called when the other end has gone, or speaks no sense; not after `close`.
  package init(
    _ socket: consuming FileDescriptor, loop: EventLoop, receive: @escaping (Incoming) -> Void,
    ended: @escaping () -> Void
  ) {
    self.socket = socket
    self.loop = loop
    self.receive = receive
    self.ended = ended
    loop.watch(self.socket.rawValue, .readable) { [weak self] ready in
      if ready.contains(.writable) { self?.flush() }
      if !ready.isDisjoint(with: [.readable, .broken]) { self?.read() }
    }
  }

  package var ready: Int { outgoing.count - sent }

  package func send(_ message: some FramedMessage) {
    if isClosed { return }
    outgoing += message.frame
    flush()
  }

  package func flush() {
    while !isClosed {
      if ready < Self.mostReady { outgoing += refill() }
      if outgoing.isEmpty { break }
      let count = outgoing.withUnsafeBytes { bytes in
        Glibc.send(
          socket.rawValue, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && Errno.current == .EINTR { continue }
      // What is lost is noticed by reading.
      if count < 0 { break }
      sent += count
      if sent < outgoing.count && sent < Self.mostReady { continue }
      outgoing = Array(outgoing.dropFirst(sent))
      sent = 0
    }
    if !isClosed {
      loop.setInterest(socket.rawValue, outgoing.isEmpty ? .readable : [.readable, .writable])
    }
  }

  package func close() {
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

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while !isClosed {
      let count = recv(socket.rawValue, &buffer, buffer.count, 0)
      if count < 0 && Errno.current == .EINTR { continue }
      if count < 0 && Errno.current == .EAGAIN { return }
      if count <= 0 { return lose() }
      incoming.append(buffer[..<count])
      do throws(BinaryError) {
        while !isClosed, let message: Incoming = try incoming.next() { receive(message) }
      } catch {
        return lose()
      }
      if count < buffer.count { return }
    }
  }
}

/// A message that goes over the socket, in a frame: the length of the rest (4 bytes), its kind, its fields.
package protocol FramedMessage: BinaryValue {}

package enum Frames {
  /// The version of the protocol, in `hello` and `welcome`, which stay as they are in all versions.
  package static let version: UInt32 = 17
  /// Bytes of the longest frame; the sender sees to it.
  package static let longest = 1 << 20
}

extension FramedMessage {
  package var frame: [UInt8] {
    let message = encoded
    return UInt32(message.count).encoded + message
  }
}

/// Cuts what comes over a socket into frames.
package struct FrameBuffer: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0

  package init() {}

  package mutating func append(_ piece: some Collection<UInt8>) {
    bytes.removeFirst(start)
    start = 0
    bytes.append(contentsOf: piece)
  }

  /// The next whole message; nil where it has not come yet.
  package mutating func next<M: FramedMessage>() throws(BinaryError) -> M? {
    let rest = bytes[start...]
    guard rest.count >= 4 else { return nil }
    let length = Int(try UInt32(decoding: rest.prefix(4)))
    guard length <= Frames.longest else { throw .tooLong }
    guard rest.count >= 4 + length else { return nil }
    start += 4 + length
    return try M(decoding: rest.dropFirst(4).prefix(length))
  }
}
