internal import PosixKit

/// Where a user's daemon is found.
package enum DaemonPlace {
  /// Locked by the daemon while it lives; its text names the socket.
  package static func lockFile(in state: String) -> String { state + "/transferd.lock" }

  package static func socket(runtime: String) -> String { runtime + "/transferd.sock" }
  package static func pidFile(runtime: String) -> String { runtime + "/transferd.pid" }

  /// The socket of the daemon that runs, or ran last.
  package static func socket(in state: String) -> String? {
    guard let bytes = try? Directories.read(lockFile(in: state), limit: 4096) else { return nil }
    let text = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    return text.hasPrefix("/") ? text : nil
  }
}
