internal import CFuse3
internal import Glibc
package import PosixKit

/// The one answer that a request gets. It can't be copied, each method consumes it, and one that is dropped
/// answers EIO: that every request is answered exactly once is the compiler's business.
///
/// Sendable, because libfuse lets any thread answer, and a reply has one owner.
package struct FuseReply: ~Copyable, @unchecked Sendable {
  let request: fuse_req_t
  init(_ request: fuse_req_t) { self.request = request }
  deinit { fuse_reply_err(request, EIO) }

  private consuming func take() -> fuse_req_t {
    let request = request
    discard self
    return request
  }

  package consuming func fail(_ errno: Errno) { fuse_reply_err(take(), errno.rawValue) }
  package consuming func succeed() { fuse_reply_err(take(), 0) }

  package consuming func entry(_ entry: FuseEntry) {
    var parameters = entry.parameters
    fuse_reply_entry(take(), &parameters)
  }

  /// - Returns: false where the creator has gone (it was interrupted): it will send no release.
  @discardableResult
  package consuming func created(_ entry: FuseEntry, _ options: FuseOpenOptions) -> Bool {
    var parameters = entry.parameters
    var info = options.info
    return fuse_reply_create(take(), &parameters, &info) == 0
  }

  package consuming func attributes(_ entry: FuseEntry) {
    var parameters = entry.parameters
    fuse_reply_attr(take(), &parameters.attr, entry.parameters.attr_timeout)
  }

  @discardableResult
  package consuming func opened(_ options: FuseOpenOptions) -> Bool {
    var info = options.info
    return fuse_reply_open(take(), &info) == 0
  }

  package consuming func data(_ bytes: UnsafeRawBufferPointer) {
    fuse_reply_buf(take(), bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
  }

  /// - Parameter isReady: whether a read(2) would not wait.
  package consuming func polled(isReady: Bool) {
    fuse_reply_poll(take(), UInt32(isReady ? POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM : 0))
  }

  package consuming func written(_ count: Int) { fuse_reply_write(take(), count) }
  package consuming func position(_ offset: Int64) { fuse_reply_lseek(take(), off_t(offset)) }

  /// - Parameters: in bytes.
  package consuming func statistics(total: Int64, free: Int64, available: Int64) {
    let blockSize: Int64 = 4096
    var result = statvfs()
    result.f_bsize = UInt(blockSize)
    result.f_frsize = UInt(blockSize)
    result.f_blocks = fsblkcnt_t(max(0, total) / blockSize)
    result.f_bfree = fsblkcnt_t(max(0, free) / blockSize)
    result.f_bavail = fsblkcnt_t(max(0, available) / blockSize)
    // Nodes are not counted: df -i shows none rather than that all are used.
    result.f_files = 0
    result.f_namemax = 255
    fuse_reply_statfs(take(), &result)
  }

  /// An attribute's value or a list of names, to a caller with room for `size` bytes; 0 asks for the length.
  package consuming func attributeValue(_ value: [UInt8], size: Int) {
    if size == 0 {
      fuse_reply_xattr(take(), value.count)
    } else if value.count > size {
      fail(.ERANGE)
    } else {
      value.withUnsafeBytes { bytes in
        // fuse_reply_buf takes no null pointer, which an empty array may give.
        let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        _ = base.map { fuse_reply_buf(request, $0, bytes.count) } ?? fuse_reply_buf(request, "", 0)
      }
      _ = take()
    }
  }

  /// As many entries as fit into `size` bytes, from the one at `offset` on.
  /// - Parameters:
  ///   - plus: whether the kernel wants each entry's attributes with it (READDIRPLUS).
  ///   - entry: the entry at an index; nil past the last.
  package consuming func directory(
    size: Int, from offset: Int64, plus: Bool, entry: (Int) -> (name: String, entry: FuseEntry)?
  ) {
    let request = take()
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      guard let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else {
        fuse_reply_err(request, ENOMEM)
        return
      }
      var used = 0
      var index = Int(offset)
      while let (name, entry) = entry(index) {
        var parameters = entry.parameters
        let next = off_t(index + 1)
        let needed =
          plus
          ? fuse_add_direntry_plus(request, base + used, size - used, name, &parameters, next)
          : fuse_add_direntry(request, base + used, size - used, name, &parameters.attr, next)
        if needed > size - used { break }
        used += needed
        index += 1
      }
      fuse_reply_buf(request, base, used)
    }
  }
}
