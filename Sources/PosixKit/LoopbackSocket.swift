internal import CLinux
internal import Glibc

/// TCP on 127.0.0.1, for servers that only this machine may reach.
package enum LoopbackSocket {
  /// Listens on `port`, 0 for one that the system chooses; non-blocking.
  package static func listen(port: UInt16 = 0, backlog: Int32 = 256) throws(PosixError) -> FileDescriptor {
    let listener = try make(Int32(SOCK_NONBLOCK.rawValue))
    let number = listener.rawValue
    var one: Int32 = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    try withAddress(port, "listen on") { bind(number, $0, $1) }
    try retrying("listen on", "127.0.0.1:\(port)") { Glibc.listen(number, backlog) }
    return listener
  }

  /// The port that a socket of `listen` has.
  package static func port(of listener: Int32) throws(PosixError) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try retrying("inspect a socket") {
      withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// A connected socket, blocking.
  package static func connect(to port: UInt16) throws(PosixError) -> FileDescriptor {
    let connection = try make(0)
    let number = connection.rawValue
    try withAddress(port, "connect to") { Glibc.connect(number, $0, $1) }
    return connection
  }

  private static func make(_ flags: Int32) throws(PosixError) -> FileDescriptor {
    FileDescriptor(
      owning: try retrying("create a socket") {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
      })
  }

  private static func withAddress(
    _ port: UInt16, _ operation: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(PosixError) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    try retrying(operation, "127.0.0.1:\(port)") { withSocketAddress(&address, body) }
  }

  /// The next connection, non-blocking, sending without delay (TCP_NODELAY); nil when there is none.
  package static func accept(on listener: Int32) -> FileDescriptor? {
    guard let accepted = UnixSocket.accept(on: listener) else { return nil }
    var one: Int32 = 1
    setsockopt(
      accepted.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    return accepted
  }

  /// Makes close(2) answer the peer with a reset (SO_LINGER of no time).
  package static func resetAtClose(_ socket: Int32) {
    var wish = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &wish, socklen_t(MemoryLayout<linger>.size))
  }
}
