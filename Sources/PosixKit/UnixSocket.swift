internal import CLinux
internal import Glibc

/// Unix sockets, stream and datagram, addressed by a name in a directory.
///
/// The directory is opened and the name reached through `/proc/self/fd`, so that paths longer than
/// `sun_path` (108 bytes, unix(7)) work.
package enum UnixSocket {
  package enum Kind: Sendable { case stream, datagram }

  /// Binds (and, for a stream, listens on) `path`, mode 0600; an old socket of that name is replaced.
  package static func listen(
    at path: String, kind: Kind = .stream, backlog: Int32 = 64
  ) throws(PosixError) -> FileDescriptor {
    let socket = try make(kind)
    unlink(path)
    let number = socket.rawValue
    try withAddress(path, "create the socket") { address, length in bind(number, address, length) }
    chmod(path, 0o600)
    if kind == .stream { try retrying("listen on", path) { Glibc.listen(number, backlog) } }
    return socket
  }

  /// A connected stream socket, or a datagram socket with `path` as its peer; non-blocking.
  package static func connect(to path: String, kind: Kind = .stream) throws(PosixError) -> FileDescriptor {
    let socket = try make(kind)
    let number = socket.rawValue
    try withAddress(path, "connect to") { address, length in Glibc.connect(number, address, length) }
    return socket
  }

  /// Two sockets that are connected with each other, and keep the bounds of messages.
  package static func pair() throws(PosixError) -> UnixSocketPair {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    try retrying("create sockets") { socketpair(AF_UNIX, kind, 0, &ends) }
    return UnixSocketPair(first: FileDescriptor(owning: ends[0]), second: FileDescriptor(owning: ends[1]))
  }

  /// The next connection, non-blocking; nil when there is none.
  package static func accept(on listener: Int32) -> FileDescriptor? {
    let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let number = accept4(listener, nil, nil, flags)
    return number < 0 ? nil : FileDescriptor(owning: number)
  }

  /// The process and user at the other end (SO_PEERCRED).
  package static func peer(of socket: Int32) throws(PosixError) -> (process: Int32, user: UInt32) {
    // struct ucred
    var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: peer))
    try retrying("identify the peer") { getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) }
    return (peer.process, peer.user)
  }

  private static func make(_ kind: Kind) throws(PosixError) -> FileDescriptor {
    let type = Int32((kind == .stream ? SOCK_STREAM : SOCK_DGRAM).rawValue)
    let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    return FileDescriptor(
      owning: try retrying("create a socket") { socket(AF_UNIX, type | flags, 0) })
  }

  private static func withAddress(
    _ path: String, _ operation: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(PosixError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    var directory: FileDescriptor?
    var short = path
    if path.utf8.count >= capacity, let slash = path.lastIndex(of: "/") {
      let opened = try FileDescriptor(opening: String(path[..<slash]), O_DIRECTORY | O_RDONLY)
      short = "/proc/self/fd/\(opened.rawValue)/\(path[path.index(after: slash)...])"
      directory = consume opened
    }
    guard short.utf8.count < capacity else { throw PosixError(.ENAMETOOLONG, operation, path) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
    try retrying(operation, path) { withSocketAddress(&address, body) }
    _ = directory
  }
}

/// Lends an address of one family as the address that calls for sockets take.
func withSocketAddress<Address>(
  _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
  }
}

/// Both ends of a connection within this machine.
package struct UnixSocketPair: ~Copyable {
  package let first: FileDescriptor
  package let second: FileDescriptor

  package consuming func takeFirst() -> FileDescriptor { first }
}

/// A listening socket handed over at the start (sd_listen_fds(3)).
package enum SocketActivation {
  /// The first of them, made close-on-exec and non-blocking; nil where there is none for this process. Takes
  /// the variables out of the environment.
  package static func listener() -> Int32? {
    defer {
      unsetenv("LISTEN_PID")
      unsetenv("LISTEN_FDS")
    }
    guard let pid = getenv("LISTEN_PID"), let count = getenv("LISTEN_FDS"),
      Int32(String(cString: pid)) == getpid(), let number = Int32(String(cString: count)), number >= 1
    else { return nil }
    let first: Int32 = 3
    let flags = fcntl(first, F_GETFL)
    guard flags >= 0, fcntl(first, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(first, F_SETFD, FD_CLOEXEC) == 0
    else {
      return nil
    }
    return first
  }
}
