import Glibc
import PosixKit

/// A way to a server on loopback that takes as long as a real one: every byte arrives half a round trip after
/// it was sent, in both directions, however many are on the way.
final class SlowLink: Sendable {
  let port: UInt16
  private let target: UInt16
  /// Seconds.
  private let delay: Double

  init(to target: UInt16, roundTrip: Double) throws {
    self.target = target
    delay = roundTrip / 2
    let listener = try LoopbackSocket.listen()
    port = try LoopbackSocket.port(of: listener.rawValue)
    let number = listener.release()
    PosixThread.start("link") { self.accept(on: number) }
  }

  private func accept(on listener: Int32) {
    var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, -1) >= 0 {
      guard let near = LoopbackSocket.accept(on: listener), let far = try? LoopbackSocket.connect(to: target)
      else { continue }
      let (client, server) = (near.release(), far.release())
      // The handshake takes a round trip too.
      let opened = MonotonicTime.after(delay * 2)
      carry(from: client, to: server, notBefore: opened)
      carry(from: server, to: client, notBefore: opened)
    }
  }

  private struct Way {
    var pieces: [(time: MonotonicTime, bytes: [UInt8])] = []
    var size = 0
  }

  /// The link holds at most this much in each direction.
  private static let capacity = 32 << 20

  private func carry(from: Int32, to: Int32, notBefore opened: MonotonicTime) {
    let way = Monitor(Way())
    PosixThread.start("link-in") { [delay] in
      var buffer = [UInt8](repeating: 0, count: 256 << 10)
      var entry = pollfd(fd: from, events: Int16(POLLIN), revents: 0)
      while true {
        guard poll(&entry, 1, -1) >= 0 else { continue }
        let count = recv(from, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0 && (Errno.current == .EAGAIN || Errno.current == .EINTR) { continue }
        let bytes = Array(buffer.prefix(max(count, 0)))
        _ = way.wait { $0.size < Self.capacity ? true : nil }
        way.withLockNotifying { way in
          way.pieces.append((max(.after(delay), opened), bytes))
          way.size += bytes.count
        }
        if bytes.isEmpty { return }
      }
    }
    PosixThread.start("link-out") {
      while true {
        let first = way.wait { $0.pieces.first }
        guard let first else { continue }
        let left = first.time.seconds(since: .now)
        if left > 0 { usleep(UInt32(left * 1e6)) }
        way.withLockNotifying { way in
          way.pieces.removeFirst()
          way.size -= first.bytes.count
        }
        if first.bytes.isEmpty {
          shutdown(to, Int32(SHUT_WR))
          return
        }
        Self.send(first.bytes, to)
      }
    }
  }

  private static func send(_ bytes: [UInt8], _ socket: Int32) {
    var done = 0
    var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count > 0 {
        done += count
      } else if Errno.current == .EAGAIN {
        poll(&entry, 1, 1000)
      } else if Errno.current != .EINTR {
        return
      }
    }
  }
}
