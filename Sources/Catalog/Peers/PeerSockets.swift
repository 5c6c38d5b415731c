internal import Glibc
internal import PosixKit

/// The sockets of all processes that want to hear of changes: one datagram socket each in a directory that
/// they share. A process that died leaves its socket behind; the next one that tries it takes it away.
enum PeerSockets {
  private static let suffix = ".sock"

  /// Binds a socket of this process's own at a path that no other has.
  static func bind(in directory: String, path: String) throws(PosixError) -> FileDescriptor {
    try Directories.createPrivate(directory)
    return try UnixSocket.listen(at: path, kind: .datagram)
  }

  /// The process's number alone is not enough: containers that share a home have the same ones.
  static func ownPath(in directory: String) -> String {
    "\(directory)/\(getpid())-\(String(UInt64.random(in: 1 ... .max), radix: 36))\(suffix)"
  }

  /// Sends `bytes` to every socket in `directory` but `own`, waiting for none: a peer whose queue is full has
  /// messages to read, and looks at the count of commits when it does.
  static func send(_ bytes: [UInt8], in directory: String, except own: String?) {
    for name in (try? Directories.names(in: directory)) ?? [] where name.hasSuffix(suffix) {
      let path = "\(directory)/\(name)"
      if path == own { continue }
      do throws(PosixError) {
        let socket = try UnixSocket.connect(to: path, kind: .datagram)
        _ = Glibc.send(socket.rawValue, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      } catch {
        if error.errno == .ECONNREFUSED { unlink(path) }
      }
    }
  }

  /// The next datagram; nil when there is none.
  static func receive(_ socket: borrowing FileDescriptor) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: ChangeMessage.maximumBytes)
    while true {
      let count = recv(socket.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count >= 0 { return Array(buffer[..<count]) }
      if Errno.current != .EINTR { return nil }
    }
  }
}
