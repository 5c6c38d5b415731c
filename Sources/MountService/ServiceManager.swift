internal import Glibc
internal import PosixKit

/// The service manager that started this program, where one did (sd_notify(3)).
package enum ServiceManager {
  /// The program serves: what `Type=notify` waits for.
  package static func tellReady() { tell("READY=1") }

  /// The program is about to end.
  static func tellStopping() { tell("STOPPING=1") }

  private static func tell(_ words: String) {
    guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), let first = path.utf8.first,
      first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
    else { return }
    UnixSocket.send(words, to: path)
  }
}
