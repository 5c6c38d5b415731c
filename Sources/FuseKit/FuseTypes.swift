internal import CFuse3
internal import Glibc
internal import PosixKit

package struct FuseCall: Sendable {
  /// For a request about a name in a folder, the folder.
  package let node: UInt64
  package let name: String
  /// Our number of what is open; 0 for other requests.
  package let handle: UInt64
  package private(set) var user: UInt32 = 0
  package private(set) var group: UInt32 = 0
  /// A thread's number, not a process's; 0 for the kernel itself or another pid namespace.
  package private(set) var thread: Int32 = 0
  /// Whether a process that served before had the request already, and may have done what it asks for.
  package let isRepeated = KernelRequest.isCurrentRepeated

  init(_ request: fuse_req_t, _ node: UInt64, name: String = "", handle: UInt64 = 0) {
    (self.node, self.name, self.handle) = (node, name, handle)
    guard let context = fuse_req_ctx(request)?.pointee else { return }
    (user, group, thread) = (context.uid, context.gid, context.pid)
  }
}

/// A node as the kernel gets it: for lookups, and for stat(2).
package struct FuseEntry: Sendable {
  let parameters: fuse_entry_param

  /// - Parameters:
  ///   - node: what the kernel keys its caches by; 0 in a listing that gives the name alone.
  ///   - generation: another one is another file under the same number.
  ///   - timeout: how long the kernel may answer from its caches, in seconds.
  ///   - permissions: without the type.
  ///   - blocks: in units of 512 bytes.
  ///   - modified: seconds since 1970, and nanoseconds on top of them.
  package init(
    node: UInt64, generation: UInt64, timeout: Double, isDirectory: Bool, inode: UInt64, permissions: UInt32,
    links: UInt32, owner: UInt32, group: UInt32, size: Int64, blocks: Int64,
    modified: (seconds: Int64, nanoseconds: Int32)
  ) {
    var status = stat()
    status.st_ino = ino_t(inode)
    status.st_mode = (isDirectory ? S_IFDIR : S_IFREG) | permissions
    status.st_nlink = nlink_t(links)
    (status.st_uid, status.st_gid) = (owner, group)
    (status.st_size, status.st_blocks) = (off_t(size), blkcnt_t(blocks))
    // What tools read at once.
    status.st_blksize = 131_072
    status.st_mtim = timespec(tv_sec: time_t(modified.seconds), tv_nsec: Int(modified.nanoseconds))
    (status.st_atim, status.st_ctim) = (status.st_mtim, status.st_mtim)
    parameters = fuse_entry_param(
      ino: node, generation: generation, attr: status, attr_timeout: timeout, entry_timeout: timeout)
  }
}

package struct FuseOpenOptions: Sendable {
  private(set) var info = fuse_file_info()

  /// - Parameters:
  ///   - handle: our number for it.
  ///   - isDirect: reads come to us as they are, past the page cache and the size.
  ///   - keepsCache: what an earlier open has cached is still right.
  ///   - isStream: reads have no position.
  ///   - cachesListing: the kernel may keep the directory's listing.
  ///   - skipsFlush: close(2) sends no flush.
  package init(
    handle: UInt64, isDirect: Bool = false, keepsCache: Bool = false, isStream: Bool = false,
    cachesListing: Bool = false, skipsFlush: Bool = false
  ) {
    info.fh = handle
    info.direct_io = isDirect ? 1 : 0
    info.keep_cache = keepsCache ? 1 : 0
    info.nonseekable = isStream ? 1 : 0
    info.cache_readdir = cachesListing ? 1 : 0
    info.noflush = skipsFlush ? 1 : 0
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
  package func wake() { fuse_lowlevel_notify_poll(handle) }
}
