internal import CFuse3
internal import Glibc
internal import PosixKit

/// Decodes what libfuse hands over and calls the file system: nothing else.
final class FuseHandler: Sendable {
  let fileSystem: any FuseFileSystem

  init(_ fileSystem: any FuseFileSystem) { self.fileSystem = fileSystem }

  static func of(_ request: fuse_req_t) -> any FuseFileSystem {
    let handler = fuse_req_userdata(request).map { Unmanaged<FuseHandler>.fromOpaque($0) }
    guard let handler else { preconditionFailure("a session without its handler") }
    return handler.takeUnretainedValue().fileSystem
  }

  /// What we ask of the kernel: see Documentation/Internals/caching.md.
  static func negotiate(_ connection: UnsafeMutablePointer<fuse_conn_info>) {
    func want(_ capability: UInt32) {
      connection.pointee.want |= connection.pointee.capable & capability
    }
    func refuse(_ capability: UInt32) { connection.pointee.want &= ~capability }
    // One stalled reader must not keep the others waiting: the kernel's default is 12 requests.
    connection.pointee.max_background = 256
    connection.pointee.congestion_threshold = 192
    connection.pointee.max_read = 1 << 20
    connection.pointee.time_gran = 1_000_000_000
    want(UInt32(FUSE_CAP_READDIRPLUS) | UInt32(FUSE_CAP_PARALLEL_DIROPS) | UInt32(FUSE_CAP_ASYNC_READ))
    // For NFS and other opens by handle: a node's number leads back to it.
    want(UInt32(FUSE_CAP_EXPLICIT_INVAL_DATA) | UInt32(FUSE_CAP_EXPORT_SUPPORT))
    // The kernel reports no signal, not even SIGKILL, to a program that waits in an asynchronous direct read.
    refuse(UInt32(FUSE_CAP_ASYNC_DIO))
    refuse(UInt32(FUSE_CAP_READDIRPLUS_AUTO) | UInt32(FUSE_CAP_AUTO_INVAL_DATA))
    refuse(UInt32(FUSE_CAP_SPLICE_READ) | UInt32(FUSE_CAP_SPLICE_WRITE) | UInt32(FUSE_CAP_SPLICE_MOVE))
  }
}
