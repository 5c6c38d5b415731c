internal import Glibc
package import PosixKit

package enum DaemonPlace {
  /// Locked by the daemon while it lives; its text names the socket.
  package static func lockFile(in state: String) -> String { state + "/transferd.lock" }
  package static func socket(runtime: String) -> String { runtime + "/transferd.sock" }
  /// What the daemon's program ends with where it can't begin because a disk is full: EX_CANTCREAT of sysexits.h.
  package static let noRoomStatus: Int32 = 73

  package static func pidFile(runtime: String) -> String { runtime + "/transferd.pid" }

  /// Why the daemon could not begin when it was last started; there is none where it could.
  package static func failureFile(in state: String) -> String { state + "/transferd.failure" }

  package static func failure(in state: String) -> String? { line(of: failureFile(in: state)) }

  /// The socket of the daemon that runs, or ran last.
  package static func socket(in state: String) -> String? {
    line(of: lockFile(in: state)).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private static func line(of path: String) -> String? {
    guard let bytes = try? Directories.readRegular(path, limit: 4096) else { return nil }
    let text = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  /// A connection to the daemon that runs; nil where none does.
  ///
  /// The socket may be in a folder of an earlier run that somebody else has made again (`/tmp` is cleared): who
  /// answers must be of this user, and a daemon must hold the lock.
  package static func connect(in state: String) -> FileDescriptor? {
    guard let path = socket(in: state),
      let lock = try? FileDescriptor(openingRegular: lockFile(in: state), O_RDONLY), lock.isLocked
    else { return nil }
    return connect(toOwn: path)
  }

  /// A connection to a socket on which this user listens (the daemon, or the service manager for it).
  package static func connect(toOwn path: String) -> FileDescriptor? {
    guard let socket = try? UnixSocket.connect(to: path),
      let peer = try? UnixSocket.peer(of: socket.rawValue), peer.user == geteuid()
    else { return nil }
    return socket
  }
}
