internal import Glibc
internal import PosixKit

/// The sockets of all processes that want to hear of changes: one datagram socket each in a directory that
/// they share. A process that died leaves its socket behind; the next one that tries it takes it away.
struct PeerSockets: Sendable {
  let directory: String

  /// The socket of a process that hears of commits.
  private static let listening = ".sock"
  /// That of a process that waits until others have seen its commits.
  private static let waiting = ".ack"

  /// Binds a socket of this process's own under a name that no other has.
  func bind(_ name: String) throws(PosixError) -> FileDescriptor {
    try Directories.createPrivate(directory)
    return try UnixSocket.listen(at: path(name), kind: .datagram)
  }

  func remove(_ name: String) { unlink(path(name)) }

  /// The process's number alone is not enough: containers that share a home have the same ones.
  static func ownName(isWaiting: Bool = false) -> String {
    "\(getpid())-\(String(UInt64.random(in: 1 ... .max), radix: 36))\(isWaiting ? waiting : listening)"
  }

  /// Those who hear of commits.
  func peers(except own: String?) -> [String] {
    ((try? Directories.names(in: directory)) ?? []).filter { $0.hasSuffix(Self.listening) && $0 != own }
  }

  /// Takes away the sockets of processes that died while they waited.
  func removeDeadWaiters() {
    for name in (try? Directories.names(in: directory)) ?? [] where name.hasSuffix(Self.waiting) {
      _ = try? connect(to: name)
    }
  }

  /// Sends without waiting: a peer whose queue is full has messages to read, and looks at the log when it does.
  /// - Returns: false where nobody is there any more.
  @discardableResult
  func send(_ message: PeerMessage, to name: String) -> Bool {
    do throws(PosixError) {
      let socket = try connect(to: name)
      let bytes = message.bytes
      _ = Glibc.send(socket.rawValue, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      return true
    } catch {
      return error.errno != .ECONNREFUSED && error.errno != .ENOENT
    }
  }

  /// The next datagram that makes sense; nil when there is none.
  static func receive(_ socket: Int32) -> PeerMessage? {
    var buffer = [UInt8](repeating: 0, count: PeerMessage.maximumBytes)
    while true {
      let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count < 0 {
        if Errno.current == .EINTR { continue }
        return nil
      }
      if let message = PeerMessage(buffer[..<count]) { return message }
    }
  }

  private func connect(to name: String) throws(PosixError) -> FileDescriptor {
    do throws(PosixError) {
      return try UnixSocket.connect(to: path(name), kind: .datagram)
    } catch {
      if error.errno == .ECONNREFUSED { unlink(path(name)) }
      throw error
    }
  }

  private func path(_ name: String) -> String { "\(directory)/\(name)" }
}
