package import FuseKit
internal import PodcastTree
internal import PosixKit

/// opendir, readdir, releasedir.
extension MountedTree {
  package func openDirectory(node: UInt64, caller: FuseCaller, reply: consuming FuseReply) {
    if isShut(to: caller) { return reply.fail(.EACCES) }
    let changeCount = changeCount(of: NodeID(rawValue: node))
    fulfil(reply, tree.openDirectory(NodeID(rawValue: node), for: self.caller(caller))) { reply, snapshot in
      let handle = self.handles.add(HandleTable.Directory(snapshot: snapshot, changeCount: changeCount))
      var options = FuseOpenOptions(handle: handle)
      options.cachesListing = snapshot.isCacheable
      options.keepsCache = snapshot.isCacheable
      if !reply.opened(options) { self.handles.removeDirectory(handle) }
    }
  }

  package func readDirectory(
    handle: UInt64, offset: Int64, size: Int, plus: Bool, reply: consuming FuseReply
  ) {
    guard let directory = handles.directory(handle) else { return reply.fail(.EBADF) }
    let snapshot = directory.snapshot
    let dots = [".", ".."]
    reply.directory(size: size, from: offset, plus: plus) { index in
      if index < dots.count {
        // The kernel makes nothing of them but their type.
        var attributes = NodeAttributes(node: snapshot.node, isDirectory: true, permissions: 0o755)
        attributes.timeout = 0
        var entry = self.entry(attributes)
        entry.node = 0
        return (dots[index], entry)
      }
      guard index - dots.count < snapshot.items.count else { return nil }
      let item = snapshot.items[index - dots.count]
      return (item.name, self.entry(item.attributes))
    }
    listed(directory)
  }

  package func releaseDirectory(handle: UInt64, reply: consuming FuseReply) {
    handles.removeDirectory(handle)
    reply.succeed()
  }
}
