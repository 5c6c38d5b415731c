internal import Glibc

extension FileDescriptor {
  /// All text until the other end is closed, at most `limit` bytes.
  package func readToEnd(limit: Int) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(rawValue, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes.prefix(limit), as: UTF8.self)
  }
}
