internal import Glibc
internal import PosixKit

/// A proxy that makes tunnels (CONNECT, RFC 9110 §9.3.6), all to one port of this machine whatever host is
/// asked for: so that names can be asked for that no name server knows.
package final class TunnelProxy: Sendable {
  private struct State {
    var targets: [String] = []
    var heads: [String] = []
  }

  package let port: UInt16
  private let listener: Int32
  private let state: Monitor<State>

  /// - Parameter destination: the port where all tunnels end.
  package init(to destination: UInt16) throws {
    let socket = try LoopbackSocket.listen()
    port = try LoopbackSocket.port(of: socket.rawValue)
    listener = socket.release()
    let (listener, state) = (listener, Monitor(State()))
    self.state = state
    PosixThread.start("proxy") {
      var ready = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      while poll(&ready, 1, -1) >= 0 || Errno.current == .EINTR {
        while let connection = LoopbackSocket.accept(on: listener) {
          let number = connection.release()
          PosixThread.start("tunnel") { Self.serve(number, destination, state) }
        }
        // Shut down: the test is over.
        if ready.revents & Int16(POLLHUP) != 0 { break }
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  package var address: String { "http://127.0.0.1:\(port)" }

  /// What was asked for, "host:port", in order.
  package var targets: [String] { state.withLock { $0.targets } }

  /// The heads of the requests for tunnels.
  package var heads: [String] { state.withLock { $0.heads } }

  private static func serve(_ number: Int32, _ destination: UInt16, _ state: Monitor<State>) {
    let client = FileDescriptor(owning: number)
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), head.count < 8192 {
      var byte: UInt8 = 0
      guard waitToRead(number), recv(number, &byte, 1, 0) == 1 else { return }
      head.append(byte)
    }
    let text = String(decoding: head, as: UTF8.self)
    let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
    guard words.count == 3, words[0] == "CONNECT", let server = try? LoopbackSocket.connect(to: destination)
    else { return }
    state.withLock { state in
      state.targets.append(String(words[1]))
      state.heads.append(text)
    }
    send(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8), to: number)
    carry(between: client.rawValue, and: server.rawValue)
  }

  private static func waitToRead(_ number: Int32) -> Bool {
    var ready = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 30_000) > 0
  }

  /// Until one of them ends.
  private static func carry(between a: Int32, and b: Int32) {
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      var ready = [
        pollfd(fd: a, events: Int16(POLLIN), revents: 0), pollfd(fd: b, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ready, 2, 60_000) > 0 else { return }
      for (from, to) in [(0, b), (1, a)] where ready[from].revents != 0 {
        let count = recv(ready[from].fd, &piece, piece.count, Int32(MSG_DONTWAIT))
        if count < 0 && Errno.current == .EAGAIN { continue }
        if count <= 0 || !send(Array(piece[..<count]), to: to) { return }
      }
    }
  }

  @discardableResult
  private static func send(_ bytes: [UInt8], to number: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && Errno.current == .EAGAIN {
        var ready = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, 1000)
        continue
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
