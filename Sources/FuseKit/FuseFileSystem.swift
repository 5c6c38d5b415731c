/// The operations of a file system, as the kernel asks for them (fuse_lowlevel.h); each answers by its reply,
/// at once or later, from any thread.
///
/// Called on the session's threads: none of these may wait for the network or for another request.
package protocol FuseFileSystem: AnyObject, Sendable {
  func lookup(_ call: FuseCall, _ reply: consuming FuseReply)
  func attributes(_ call: FuseCall, _ reply: consuming FuseReply)
  /// chmod, chown, utimes, truncate.
  /// - Parameters:
  ///   - size: the new size where it is to change.
  ///   - onlyTimes: whether nothing but times is to change.
  func change(_ call: FuseCall, size: Int64?, onlyTimes: Bool, _ reply: consuming FuseReply)
  func access(_ call: FuseCall, mask: Int32, _ reply: consuming FuseReply)
  func makeDirectory(_ call: FuseCall, _ reply: consuming FuseReply)
  func removeDirectory(_ call: FuseCall, _ reply: consuming FuseReply)
  func unlink(_ call: FuseCall, _ reply: consuming FuseReply)
  func link(_ call: FuseCall, to node: UInt64, _ reply: consuming FuseReply)
  func rename(
    _ call: FuseCall, to newName: String, in newParent: UInt64, flags: UInt32, _ reply: consuming FuseReply)
  /// mknod and symlink.
  func makeOther(_ call: FuseCall, _ reply: consuming FuseReply)
  func create(_ call: FuseCall, _ reply: consuming FuseReply)
  func open(_ call: FuseCall, flags: Int32, _ reply: consuming FuseReply)
  func read(
    _ call: FuseCall, at offset: Int64, count: Int, _ options: FuseReadOptions, _ reply: consuming FuseReply)
  /// - Parameter waiter: the program that waits; nil where it only asks.
  func poll(_ call: FuseCall, _ waiter: FusePollWaiter?, _ reply: consuming FuseReply)
  func write(
    _ call: FuseCall, at offset: Int64, _ bytes: UnsafeRawBufferPointer, _ reply: consuming FuseReply)
  func flush(_ call: FuseCall, _ reply: consuming FuseReply)
  func release(_ call: FuseCall, _ reply: consuming FuseReply)
  func seek(_ call: FuseCall, to offset: Int64, whence: Int32, _ reply: consuming FuseReply)
  func openDirectory(_ call: FuseCall, _ reply: consuming FuseReply)
  func readDirectory(_ call: FuseCall, at offset: Int64, size: Int, plus: Bool, _ reply: consuming FuseReply)
  func releaseDirectory(_ call: FuseCall, _ reply: consuming FuseReply)
  func statistics(_ reply: consuming FuseReply)

  /// Extended attributes; `call.name` is the attribute's.
  /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE (setxattr(2)).
  func setAttribute(_ call: FuseCall, to value: [UInt8], flags: Int32, _ reply: consuming FuseReply)
  func attribute(_ call: FuseCall, size: Int, _ reply: consuming FuseReply)
  func listAttributes(_ call: FuseCall, size: Int, _ reply: consuming FuseReply)
  func removeAttribute(_ call: FuseCall, _ reply: consuming FuseReply)
}
