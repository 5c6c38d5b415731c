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
    func want(_ capability: UInt32) { connection.pointee.want |= connection.pointee.capable & capability }
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

private typealias Body = (any FuseFileSystem, FuseCall, consuming FuseReply) -> Void

private func serve(
  _ request: fuse_req_t?, _ node: UInt64 = 0, _ info: UnsafePointer<fuse_file_info>? = nil, _ body: Body
) {
  guard let request else { return }
  let call = FuseCall(request, node, handle: info?.pointee.fh ?? 0)
  body(FuseHandler.of(request), call, FuseReply(request))
}

/// The same for a request about a name; one that is no UTF-8, as no name of ours is, fails with `errno`.
private func serve(
  _ request: fuse_req_t?, _ node: UInt64, _ name: UnsafePointer<CChar>?, or errno: Errno, _ body: Body
) {
  guard let request else { return }
  guard let name = name.flatMap({ String(validatingCString: $0) }) else {
    return FuseReply(request).fail(errno)
  }
  body(FuseHandler.of(request), FuseCall(request, node, name: name), FuseReply(request))
}

extension FuseHandler {
  static var operations: fuse_lowlevel_ops {
    var operations = fuse_lowlevel_ops()
    operations.`init` = { _, connection in if let connection { FuseHandler.negotiate(connection) } }
    operations.lookup = { serve($0, $1, $2, or: .ENOENT) { $0.lookup($1, $2) } }
    // A node's number says by itself what it stands for: nothing is to be forgotten.
    operations.forget = { request, _, _ in fuse_reply_none(request) }
    operations.forget_multi = { request, _, _ in fuse_reply_none(request) }
    operations.getattr = { request, node, _ in serve(request, node) { $0.attributes($1, $2) } }
    operations.setattr = { request, node, attributes, changes, _ in
      let changed = { changes & $0 != 0 }
      let size = changed(FUSE_SET_ATTR_SIZE) ? Int64(attributes?.pointee.st_size ?? 0) : nil
      let onlyTimes = !changed(
        FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID | FUSE_SET_ATTR_SIZE)
      serve(request, node) { $0.change($1, size: size, onlyTimes: onlyTimes, $2) }
    }
    operations.access = { request, node, mask in serve(request, node) { $0.access($1, mask: mask, $2) } }
    operations.statfs = { request, _ in serve(request) { $0.statistics($2) } }

    operations.mkdir = { request, parent, name, _ in
      serve(request, parent, name, or: .EILSEQ) { $0.makeDirectory($1, $2) }
    }
    operations.rmdir = { serve($0, $1, $2, or: .ENOENT) { $0.removeDirectory($1, $2) } }
    operations.unlink = { serve($0, $1, $2, or: .ENOENT) { $0.unlink($1, $2) } }
    operations.rename = { request, parent, name, newParent, newName, flags in
      let newName = newName.flatMap { String(validatingCString: $0) }
      serve(request, parent, name, or: .EILSEQ) { files, call, reply in
        guard let newName else { return reply.fail(.EILSEQ) }
        files.rename(call, to: newName, in: newParent, flags: flags, reply)
      }
    }
    operations.mknod = { request, parent, name, _, _ in
      serve(request, parent, name, or: .EILSEQ) { $0.makeOther($1, $2) }
    }
    operations.symlink = { request, _, parent, name in
      serve(request, parent, name, or: .EILSEQ) { $0.makeOther($1, $2) }
    }
    operations.link = { request, node, parent, name in
      serve(request, parent, name, or: .EILSEQ) { $0.link($1, to: node, $2) }
    }
    operations.create = { request, parent, name, _, _ in
      serve(request, parent, name, or: .EILSEQ) { $0.create($1, $2) }
    }

    operations.open = { request, node, info in
      serve(request, node, info) { $0.open($1, flags: info?.pointee.flags ?? 0, $2) }
    }
    operations.read = { request, node, size, offset, info in
      serve(request, node, info) {
        $0.read($1, at: Int64(offset), count: size, FuseReadOptions(info?.pointee), $2)
      }
    }
    operations.write = { request, node, bytes, size, offset, info in
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size)
      serve(request, node, info) { $0.write($1, at: Int64(offset), bytes, $2) }
    }
    operations.flush = { serve($0, $1, $2) { $0.flush($1, $2) } }
    operations.release = { serve($0, $1, $2) { $0.release($1, $2) } }
    operations.poll = { request, node, info, handle in
      let waiter = handle.map { FusePollWaiter($0) }
      serve(request, node, info) { $0.poll($1, waiter, $2) }
    }
    operations.fsync = { request, _, _, _ in fuse_reply_err(request, 0) }
    operations.lseek = { request, node, offset, whence, info in
      serve(request, node, info) { $0.seek($1, to: Int64(offset), whence: whence, $2) }
    }

    operations.opendir = { serve($0, $1, $2) { $0.openDirectory($1, $2) } }
    operations.readdir = { request, node, size, offset, info in
      serve(request, node, info) { $0.readDirectory($1, at: Int64(offset), size: size, plus: false, $2) }
    }
    operations.readdirplus = { request, node, size, offset, info in
      serve(request, node, info) { $0.readDirectory($1, at: Int64(offset), size: size, plus: true, $2) }
    }
    operations.releasedir = { serve($0, $1, $2) { $0.releaseDirectory($1, $2) } }

    operations.setxattr = { request, node, name, value, size, flags in
      let bytes = Array(UnsafeRawBufferPointer(start: value, count: size))
      serve(request, node, name, or: .EINVAL) { $0.setAttribute($1, to: bytes, flags: flags, $2) }
    }
    operations.getxattr = { request, node, name, size in
      serve(request, node, name, or: .ENODATA) { $0.attribute($1, size: size, $2) }
    }
    operations.listxattr = { request, node, size in
      serve(request, node) { $0.listAttributes($1, size: size, $2) }
    }
    operations.removexattr = { serve($0, $1, $2, or: .ENODATA) { $0.removeAttribute($1, $2) } }
    return operations
  }
}
