internal import CFuse3
internal import Glibc
internal import PosixKit

extension FuseHandler {
  private static func serve(
    _ request: fuse_req_t?, _ call: (any FuseFileSystem, FuseCaller, consuming FuseReply) -> Void
  ) {
    guard let request else { return }
    call(of(request), FuseCaller(request), FuseReply(request))
  }

  /// The same for a request about a name; one that is no UTF-8, as no name of ours is, fails with `errno`.
  private static func serve(
    _ request: fuse_req_t?, _ name: UnsafePointer<CChar>?, or errno: Errno,
    _ call: (any FuseFileSystem, String, FuseCaller, consuming FuseReply) -> Void
  ) {
    serve(request) { files, caller, reply in
      guard let name = name.flatMap({ String(validatingCString: $0) }) else { return reply.fail(errno) }
      call(files, name, caller, reply)
    }
  }

  static var operations: fuse_lowlevel_ops {
    var operations = fuse_lowlevel_ops()
    operations.`init` = { _, connection in
      if let connection { FuseHandler.negotiate(connection) }
    }
    addNodes(&operations)
    addChanges(&operations)
    addFiles(&operations)
    addDirectories(&operations)
    addAttributes(&operations)
    return operations
  }

  private static func addNodes(_ operations: inout fuse_lowlevel_ops) {
    operations.lookup = { request, parent, name in
      FuseHandler.serve(request, name, or: .ENOENT) {
        $0.lookup(parent: parent, name: $1, caller: $2, reply: $3)
      }
    }
    // A node's number says by itself what it stands for: nothing is to be forgotten.
    operations.forget = { request, _, _ in fuse_reply_none(request) }
    operations.forget_multi = { request, _, _ in fuse_reply_none(request) }
    operations.getattr = { request, node, _ in
      FuseHandler.serve(request) { $0.attributes(node: node, caller: $1, reply: $2) }
    }
    operations.setattr = { request, node, attributes, changes, _ in
      let (changes, size) = (FuseChanges(rawValue: changes), Int64(attributes?.pointee.st_size ?? 0))
      FuseHandler.serve(request) { $0.change(node: node, changes: changes, to: size, caller: $1, reply: $2) }
    }
    operations.access = { request, node, mask in
      FuseHandler.serve(request) { $0.access(node: node, mask: mask, caller: $1, reply: $2) }
    }
    operations.statfs = { request, _ in FuseHandler.serve(request) { $0.statistics(reply: $2) } }
  }

  private static func addChanges(_ operations: inout fuse_lowlevel_ops) {
    operations.mkdir = { request, parent, name, _ in
      FuseHandler.serve(request, name, or: .EILSEQ) {
        $0.makeDirectory(parent: parent, name: $1, caller: $2, reply: $3)
      }
    }
    operations.rmdir = { request, parent, name in
      FuseHandler.serve(request, name, or: .ENOENT) {
        $0.removeDirectory(parent: parent, name: $1, caller: $2, reply: $3)
      }
    }
    operations.unlink = { request, parent, name in
      FuseHandler.serve(request, name, or: .ENOENT) {
        $0.unlink(parent: parent, name: $1, caller: $2, reply: $3)
      }
    }
    operations.rename = { request, parent, name, newParent, newName, flags in
      let newName = newName.flatMap { String(validatingCString: $0) }
      FuseHandler.serve(request, name, or: .EILSEQ) { files, name, caller, reply in
        guard let newName else { return reply.fail(.EILSEQ) }
        files.rename(
          parent: parent, name: name, newParent: newParent, newName: newName, flags: flags, caller: caller,
          reply: reply)
      }
    }
    operations.mknod = { request, parent, name, _, _ in FuseHandler.makeOther(request, parent, name) }
    operations.symlink = { request, _, parent, name in FuseHandler.makeOther(request, parent, name) }
    operations.link = { request, node, parent, name in
      FuseHandler.serve(request, name, or: .EILSEQ) {
        $0.link(node: node, parent: parent, name: $1, caller: $2, reply: $3)
      }
    }
    operations.create = { request, parent, name, _, _ in
      FuseHandler.serve(request, name, or: .EILSEQ) {
        $0.create(parent: parent, name: $1, caller: $2, reply: $3)
      }
    }
  }

  private static func makeOther(_ request: fuse_req_t?, _ parent: UInt64, _ name: UnsafePointer<CChar>?) {
    serve(request, name, or: .EILSEQ) { $0.makeOther(parent: parent, name: $1, caller: $2, reply: $3) }
  }

  private static func addFiles(_ operations: inout fuse_lowlevel_ops) {
    operations.open = { request, node, info in
      let flags = info?.pointee.flags ?? 0
      FuseHandler.serve(request) { $0.open(node: node, flags: flags, caller: $1, reply: $2) }
    }
    operations.read = { request, _, size, offset, info in
      let (handle, options) = (info?.pointee.fh ?? 0, FuseReadOptions(info?.pointee))
      FuseHandler.serve(request) {
        $0.read(handle: handle, offset: Int64(offset), count: size, options: options, caller: $1, reply: $2)
      }
    }
    operations.poll = { request, _, info, waiter in
      let (handle, waiter) = (info?.pointee.fh ?? 0, waiter.map { FusePollWaiter($0) })
      FuseHandler.serve(request) { $0.poll(handle: handle, waiter: waiter, reply: $2) }
    }
    operations.write = { request, _, bytes, size, offset, info in
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size)
      let handle = info?.pointee.fh ?? 0
      FuseHandler.serve(request) { $0.write(handle: handle, offset: Int64(offset), bytes: bytes, reply: $2) }
    }
    operations.flush = { request, _, info in
      let handle = info?.pointee.fh ?? 0
      FuseHandler.serve(request) { $0.flush(handle: handle, reply: $2) }
    }
    operations.release = { request, _, info in
      let handle = info?.pointee.fh ?? 0
      FuseHandler.serve(request) { $0.release(handle: handle, reply: $2) }
    }
    operations.fsync = { request, _, _, _ in fuse_reply_err(request, 0) }
    operations.lseek = { request, _, offset, whence, info in
      let handle = info?.pointee.fh ?? 0
      FuseHandler.serve(request) { $0.seek(handle: handle, offset: Int64(offset), whence: whence, reply: $2) }
    }
  }

  private static func addDirectories(_ operations: inout fuse_lowlevel_ops) {
    operations.opendir = { request, node, _ in
      FuseHandler.serve(request) { $0.openDirectory(node: node, caller: $1, reply: $2) }
    }
    operations.readdir = { request, _, size, offset, info in
      FuseHandler.readDirectory(request, info, offset, size, plus: false)
    }
    operations.readdirplus = { request, _, size, offset, info in
      FuseHandler.readDirectory(request, info, offset, size, plus: true)
    }
    operations.releasedir = { request, _, info in
      let handle = info?.pointee.fh ?? 0
      FuseHandler.serve(request) { $0.releaseDirectory(handle: handle, reply: $2) }
    }
  }

  private static func readDirectory(
    _ request: fuse_req_t?, _ info: UnsafeMutablePointer<fuse_file_info>?, _ offset: off_t, _ size: Int,
    plus: Bool
  ) {
    let handle = info?.pointee.fh ?? 0
    serve(request) {
      $0.readDirectory(handle: handle, offset: Int64(offset), size: size, plus: plus, reply: $2)
    }
  }

  private static func addAttributes(_ operations: inout fuse_lowlevel_ops) {
    operations.setxattr = { request, node, name, value, size, flags in
      let bytes = Array(UnsafeRawBufferPointer(start: value, count: size))
      FuseHandler.serve(request, name, or: .EINVAL) {
        $0.setAttribute(node: node, name: $1, value: bytes, flags: flags, caller: $2, reply: $3)
      }
    }
    operations.getxattr = { request, node, name, size in
      FuseHandler.serve(request, name, or: .ENODATA) {
        $0.attribute(node: node, name: $1, size: size, caller: $2, reply: $3)
      }
    }
    operations.listxattr = { request, node, size in
      FuseHandler.serve(request) { $0.listAttributes(node: node, size: size, caller: $1, reply: $2) }
    }
    operations.removexattr = { request, node, name in
      FuseHandler.serve(request, name, or: .ENODATA) {
        $0.removeAttribute(node: node, name: $1, caller: $2, reply: $3)
      }
    }
  }
}
