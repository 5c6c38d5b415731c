internal import CFuse3
internal import Glibc
internal import PosixKit

extension FuseHandler {
  /// The table for libfuse.
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
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.ENOENT) }
      FuseHandler.of(request).lookup(parent: parent, name: name, caller: FuseCaller(request), reply: reply)
    }
    operations.forget = { request, node, count in
      guard let request else { return }
      FuseHandler.of(request).forget(node: node, count: count)
      fuse_reply_none(request)
    }
    operations.forget_multi = { request, count, list in
      guard let request else { return }
      for index in 0..<count {
        guard let entry = list?[index] else { break }
        FuseHandler.of(request).forget(node: entry.ino, count: entry.nlookup)
      }
      fuse_reply_none(request)
    }
    operations.getattr = { request, node, info in
      guard let request else { return }
      FuseHandler.of(request).attributes(
        node: node, handle: info?.pointee.fh, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.setattr = { request, node, attributes, changes, info in
      guard let request else { return }
      FuseHandler.of(request).change(
        node: node, changes: FuseChanges(rawValue: changes), to: Int64(attributes?.pointee.st_size ?? 0),
        handle: info?.pointee.fh, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.access = { request, node, mask in
      guard let request else { return }
      FuseHandler.of(request).access(
        node: node, mask: mask, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.statfs = { request, _ in
      guard let request else { return }
      FuseHandler.of(request).statistics(reply: FuseReply(request))
    }
  }

  private static func addChanges(_ operations: inout fuse_lowlevel_ops) {
    operations.mkdir = { request, parent, name, _ in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.EILSEQ) }
      FuseHandler.of(request).makeDirectory(
        parent: parent, name: name, caller: FuseCaller(request), reply: reply)
    }
    operations.rmdir = { request, parent, name in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.ENOENT) }
      FuseHandler.of(request).removeDirectory(
        parent: parent, name: name, caller: FuseCaller(request), reply: reply)
    }
    operations.unlink = { request, parent, name in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.ENOENT) }
      FuseHandler.of(request).unlink(parent: parent, name: name, caller: FuseCaller(request), reply: reply)
    }
    operations.rename = { request, parent, name, newParent, newName, flags in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name), let newName = FuseHandler.name(newName) else {
        return reply.fail(.EILSEQ)
      }
      FuseHandler.of(request).rename(
        parent: parent, name: name, newParent: newParent, newName: newName, flags: flags,
        caller: FuseCaller(request), reply: reply)
    }
    operations.mknod = { request, parent, name, _, _ in
      FuseHandler.makeOther(request, parent, name)
    }
    operations.symlink = { request, _, parent, name in FuseHandler.makeOther(request, parent, name) }
    operations.link = { request, _, parent, name in FuseHandler.makeOther(request, parent, name) }
    operations.create = { request, parent, name, _, _ in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.EILSEQ) }
      FuseHandler.of(request).create(parent: parent, name: name, caller: FuseCaller(request), reply: reply)
    }
  }

  private static func makeOther(_ request: fuse_req_t?, _ parent: UInt64, _ name: UnsafePointer<CChar>?) {
    guard let request else { return }
    let reply = FuseReply(request)
    guard let name = FuseHandler.name(name) else { return reply.fail(.EILSEQ) }
    FuseHandler.of(request).makeOther(parent: parent, name: name, caller: FuseCaller(request), reply: reply)
  }

  private static func addFiles(_ operations: inout fuse_lowlevel_ops) {
    operations.open = { request, node, info in
      guard let request else { return }
      FuseHandler.of(request).open(
        node: node, flags: info?.pointee.flags ?? 0, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.read = { request, _, size, offset, info in
      guard let request else { return }
      FuseHandler.of(request).read(
        handle: info?.pointee.fh ?? 0, offset: Int64(offset), count: size,
        options: FuseReadOptions(info?.pointee), caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.poll = { request, _, info, waiter in
      guard let request else { return }
      FuseHandler.of(request).poll(
        handle: info?.pointee.fh ?? 0, waiter: waiter.map { FusePollWaiter($0) }, reply: FuseReply(request))
    }
    operations.write = { request, _, bytes, size, offset, info in
      guard let request else { return }
      FuseHandler.of(request).write(
        handle: info?.pointee.fh ?? 0, offset: Int64(offset),
        bytes: UnsafeRawBufferPointer(start: bytes, count: size), caller: FuseCaller(request),
        reply: FuseReply(request))
    }
    operations.flush = { request, _, info in
      guard let request else { return }
      FuseHandler.of(request).flush(
        handle: info?.pointee.fh ?? 0, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.release = { request, _, info in
      guard let request else { return }
      FuseHandler.of(request).release(handle: info?.pointee.fh ?? 0, reply: FuseReply(request))
    }
    operations.fsync = { request, _, _, _ in fuse_reply_err(request, 0) }
    operations.lseek = { request, _, offset, whence, info in
      guard let request else { return }
      FuseHandler.of(request).seek(
        handle: info?.pointee.fh ?? 0, offset: Int64(offset), whence: whence, reply: FuseReply(request))
    }
  }

  private static func addDirectories(_ operations: inout fuse_lowlevel_ops) {
    operations.opendir = { request, node, _ in
      guard let request else { return }
      FuseHandler.of(request).openDirectory(
        node: node, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.readdir = { request, _, size, offset, info in
      guard let request else { return }
      FuseHandler.of(request).readDirectory(
        handle: info?.pointee.fh ?? 0, offset: Int64(offset), size: size, plus: false,
        reply: FuseReply(request))
    }
    operations.readdirplus = { request, _, size, offset, info in
      guard let request else { return }
      FuseHandler.of(request).readDirectory(
        handle: info?.pointee.fh ?? 0, offset: Int64(offset), size: size, plus: true,
        reply: FuseReply(request))
    }
    operations.releasedir = { request, _, info in
      guard let request else { return }
      FuseHandler.of(request).releaseDirectory(handle: info?.pointee.fh ?? 0, reply: FuseReply(request))
    }
  }

  private static func addAttributes(_ operations: inout fuse_lowlevel_ops) {
    operations.setxattr = { request, node, name, value, size, flags in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.EINVAL) }
      let bytes = Array(UnsafeRawBufferPointer(start: value, count: size))
      FuseHandler.of(request).setAttribute(
        node: node, name: name, value: bytes, flags: flags, caller: FuseCaller(request), reply: reply)
    }
    operations.getxattr = { request, node, name, size in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.ENODATA) }
      FuseHandler.of(request).attribute(
        node: node, name: name, size: size, caller: FuseCaller(request), reply: reply)
    }
    operations.listxattr = { request, node, size in
      guard let request else { return }
      FuseHandler.of(request).listAttributes(
        node: node, size: size, caller: FuseCaller(request), reply: FuseReply(request))
    }
    operations.removexattr = { request, node, name in
      guard let request else { return }
      let reply = FuseReply(request)
      guard let name = FuseHandler.name(name) else { return reply.fail(.ENODATA) }
      FuseHandler.of(request).removeAttribute(
        node: node, name: name, caller: FuseCaller(request), reply: reply)
    }
  }
}
