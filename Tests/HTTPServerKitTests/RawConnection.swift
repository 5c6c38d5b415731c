import Glibc
import PosixKit

/// A plain TCP connection to a server on loopback, to say what no client says.
final class RawConnection {
  private let file: FileDescriptor

  init(port: UInt16) throws {
    file = try LoopbackSocket.connect(to: port)
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(file.rawValue, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  func send(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes {
      Glibc.send(file.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// What comes until the server closes, or `enough` has come.
  func receive(until enough: (String) -> Bool = { _ in false }) -> String {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while !enough(String(decoding: bytes, as: UTF8.self)) {
      let count = recv(file.rawValue, &piece, piece.count, 0)
      if count <= 0 { break }
      bytes += piece[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
