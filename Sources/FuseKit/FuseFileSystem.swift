/// The operations of a file system, as the kernel asks for them (fuse_lowlevel.h); each answers by its reply,
/// at once or later, from any thread.
///
/// Called on the session's threads: none of these may wait for the network or for another request.
package protocol FuseFileSystem: AnyObject, Sendable {
  func lookup(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
  func attributes(node: UInt64, caller: FuseCaller, reply: consuming FuseReply)
  func change(
    node: UInt64, changes: FuseChanges, to size: Int64, caller: FuseCaller, reply: consuming FuseReply)
  func access(node: UInt64, mask: Int32, caller: FuseCaller, reply: consuming FuseReply)

  func makeDirectory(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
  func removeDirectory(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
  func unlink(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
  func link(node: UInt64, parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
  func rename(
    parent: UInt64, name: String, newParent: UInt64, newName: String, flags: UInt32, caller: FuseCaller,
    reply: consuming FuseReply)
  /// mknod and symlink.
  func makeOther(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
  func create(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)

  func open(node: UInt64, flags: Int32, caller: FuseCaller, reply: consuming FuseReply)
  /// - Parameter options: how it is read.
  func read(
    handle: UInt64, offset: Int64, count: Int, options: FuseReadOptions, caller: FuseCaller,
    reply: consuming FuseReply)
  /// poll(2). The waiter, where there is one, is to be notified when the answer may have changed.
  func poll(handle: UInt64, waiter: FusePollWaiter?, reply: consuming FuseReply)
  func write(handle: UInt64, offset: Int64, bytes: UnsafeRawBufferPointer, reply: consuming FuseReply)
  func flush(handle: UInt64, reply: consuming FuseReply)
  func release(handle: UInt64, reply: consuming FuseReply)
  func seek(handle: UInt64, offset: Int64, whence: Int32, reply: consuming FuseReply)

  func openDirectory(node: UInt64, caller: FuseCaller, reply: consuming FuseReply)
  func readDirectory(handle: UInt64, offset: Int64, size: Int, plus: Bool, reply: consuming FuseReply)
  func releaseDirectory(handle: UInt64, reply: consuming FuseReply)

  func statistics(reply: consuming FuseReply)

  /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE.
  func setAttribute(
    node: UInt64, name: String, value: [UInt8], flags: Int32, caller: FuseCaller, reply: consuming FuseReply)
  func attribute(node: UInt64, name: String, size: Int, caller: FuseCaller, reply: consuming FuseReply)
  func listAttributes(node: UInt64, size: Int, caller: FuseCaller, reply: consuming FuseReply)
  func removeAttribute(node: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply)
}
