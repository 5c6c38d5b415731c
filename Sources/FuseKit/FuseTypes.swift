internal import CFuse3
internal import Glibc
internal import PosixKit

/// A request of the kernel: what it is about, and who asks.
package struct FuseCall: Sendable {
  /// For a request about a name in a folder, the folder.
  package let node: UInt64
  package let name: String
  /// Our number of what is open; 0 for other requests.
  package let handle: UInt64
  package let caller: FuseCaller
}

/// Who asks: the kernel's words.
package struct FuseCaller: Sendable {
  package var user: UInt32 = 0
  package var group: UInt32 = 0
  /// A thread's number, not a process's; 0 for the kernel itself or another pid namespace.
  package var thread: Int32 = 0
  /// Whether a process that served before had the request already, and may have done what it asks for.
  package var isRepeated = false

  init(_ request: fuse_req_t) {
    guard let context = fuse_req_ctx(request)?.pointee else { return }
    (user, group, thread) = (context.uid, context.gid, context.pid)
    isRepeated = KernelRequest.isCurrentRepeated
  }
}

/// A node as the kernel gets it: for lookups, and for stat(2).
package struct FuseEntry: Sendable {
  /// What the kernel keys its caches by; 0 in a listing that gives the name alone.
  package var node: UInt64
  /// Another one is another file under the same number.
  package var generation: UInt64 = 0
  /// How long the kernel may answer from its caches, in seconds.
  package var timeout: Double = 0
  package var isDirectory: Bool
  /// st_ino.
  package var inode: UInt64
  /// Permission bits, without the type.
  package var permissions: UInt32
  package var links: UInt32 = 1
  package var owner: UInt32
  package var group: UInt32
  /// In bytes.
  package var size: Int64 = 0
  /// In units of 512 bytes.
  package var blocks: Int64 = 0
  /// Seconds since 1970, and nanoseconds on top of them.
  package var modified: (seconds: Int64, nanoseconds: Int32) = (0, 0)

  package init(
    node: UInt64, isDirectory: Bool, inode: UInt64, permissions: UInt32, owner: UInt32, group: UInt32
  ) {
    (self.node, self.isDirectory, self.inode, self.permissions) = (node, isDirectory, inode, permissions)
    (self.owner, self.group) = (owner, group)
  }

  var status: stat {
    var result = stat()
    result.st_ino = ino_t(inode)
    result.st_mode = (isDirectory ? S_IFDIR : S_IFREG) | permissions
    result.st_nlink = nlink_t(links)
    result.st_uid = owner
    result.st_gid = group
    result.st_size = off_t(size)
    result.st_blocks = blkcnt_t(blocks)
    // What tools read at once; the kernel shows it as st_blksize.
    result.st_blksize = 131_072
    result.st_mtim = timespec(tv_sec: time_t(modified.seconds), tv_nsec: Int(modified.nanoseconds))
    result.st_atim = result.st_mtim
    result.st_ctim = result.st_mtim
    return result
  }

  var parameters: fuse_entry_param {
    fuse_entry_param(
      ino: node, generation: generation, attr: status, attr_timeout: timeout, entry_timeout: timeout)
  }
}

/// How an open file is to be treated by the kernel.
package struct FuseOpenOptions: Sendable {
  /// Our number for it.
  package var handle: UInt64
  /// Reads come to us as they are, past the page cache and the size.
  package var isDirect = false
  /// Pages cached by an earlier open are still good.
  package var keepsCache = false
  /// Reads have no position (streams).
  package var isStream = false
  /// The listing may be cached (directories).
  package var cachesListing = false
  /// Don't send a flush at close(2).
  package var skipsFlush = false

  package init(handle: UInt64, isDirect: Bool = false) { (self.handle, self.isDirect) = (handle, isDirect) }

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

/// How a file is read.
package struct FuseReadOptions: Sendable {
  /// The program opened the file with O_NONBLOCK (open(2)): a read must not wait for bytes.
  package let isNonblocking: Bool
  /// Whether it is a program's read(2) as it stands. Else the kernel fills its pages, and takes an answer that is short
  /// for the file's end.
  ///
  /// The kernel names the lock's owner in the first case only (FUSE_READ_LOCKOWNER), as one of 2^64 numbers that is
  /// never 0 but by chance.
  package let isCall: Bool

  init(_ info: fuse_file_info?) {
    isNonblocking = (info?.flags ?? 0) & O_NONBLOCK != 0
    isCall = (info?.lock_owner ?? 0) != 0
  }
}

/// A program that waits in poll(2).
///
/// The handle is set once, and libfuse lets any thread notify: that makes it Sendable.
package final class FusePollWaiter: @unchecked Sendable {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { fuse_pollhandle_destroy(handle) }

  /// Has it ask again.
  package func wake() { fuse_lowlevel_notify_poll(handle) }
}
