internal import CFuse3
internal import Glibc

extension FuseAttributes {
  var status: stat {
    var result = stat()
    result.st_ino = ino_t(inode)
    result.st_mode = (kind == .directory ? S_IFDIR : S_IFREG) | permissions
    result.st_nlink = nlink_t(links)
    result.st_uid = owner
    result.st_gid = group
    result.st_size = off_t(size)
    result.st_blocks = blkcnt_t(blocks)
    // What tools read at once; the kernel shows it as st_blksize.
    result.st_blksize = 131_072
    result.st_mtim = timespec(tv_sec: time_t(modified.seconds), tv_nsec: Int(modified.nanoseconds))
    result.st_atim = result.st_mtim
    result.st_ctim = timespec(tv_sec: time_t(changed.seconds), tv_nsec: Int(changed.nanoseconds))
    return result
  }
}

extension FuseEntry {
  var parameters: fuse_entry_param {
    var result = fuse_entry_param()
    result.ino = node
    result.generation = generation
    result.attr = attributes.status
    result.attr_timeout = attributeTimeout
    result.entry_timeout = entryTimeout
    return result
  }
}

extension FuseOpenOptions {
  var info: fuse_file_info {
    var result = fuse_file_info()
    result.fh = handle
    result.direct_io = isDirect ? 1 : 0
    result.keep_cache = keepsCache ? 1 : 0
    result.nonseekable = isStream ? 1 : 0
    result.cache_readdir = cachesListing ? 1 : 0
    result.noflush = skipsFlush ? 1 : 0
    return result
  }
}

extension FuseCaller {
  init(_ request: fuse_req_t) {
    guard let context = fuse_req_ctx(request) else {
      self.init(user: 0, group: 0, thread: 0)
      return
    }
    let number = KernelRequest.current
    self.init(
      user: context.pointee.uid, group: context.pointee.gid, thread: context.pointee.pid,
      request: number & ~KernelRequest.repeatedBit, isRepeated: number & KernelRequest.repeatedBit != 0)
  }
}

extension FuseReadOptions {
  init(_ info: fuse_file_info?) {
    isNonblocking = (info?.flags ?? 0) & O_NONBLOCK != 0
    isCall = (info?.lock_owner ?? 0) != 0
  }
}
