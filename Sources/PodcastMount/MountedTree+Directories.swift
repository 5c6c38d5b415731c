package import FuseKit
internal import PodcastTree
internal import PosixKit

/// opendir, readdir, releasedir.
extension MountedTree {
  package func openDirectory(node: UInt64, caller: FuseCaller, reply: consuming FuseReply) {
    if isShut(to: caller) { return reply.fail(.EACCES) }
    if caller.isRepeated { handles.forgetAnswer(to: caller.request) }
    let node = numbers.node(node)
    let isKept = kernel.hasListing(of: node)
    fulfil(reply, tree.openDirectory(node, for: self.caller(caller), isKept: isKept)) { reply, directory in
      let handle = self.handles.add(directory, request: caller.request)
      var options = FuseOpenOptions(handle: handle)
      options.cachesListing = directory.isCacheable
      options.keepsCache = isKept
      if !isKept && directory.isCacheable {
        self.kernel.noteListing(of: node)
        // It has changed since it was looked up.
        if !directory.isCurrent { self.kernel.forgetListing(of: node) }
      }
      if !reply.opened(options) { self.handles.remove(handle) }
    }
  }

  package func readDirectory(
    handle: UInt64, offset: Int64, size: Int, plus: Bool, reply: consuming FuseReply
  ) {
    guard let directory = handles.directory(handle) else {
      return reopenDirectory(handle, reply) { reply in
        self.readDirectory(handle: handle, offset: offset, size: size, plus: plus, reply: reply)
      }
    }
    // From the beginning (also once more: rewinddir(3)) it is as it is now.
    if !directory.isRead || offset == 0 && !directory.isCurrent {
      let read = inFlight.during(.looking(in: directory.node), directory.read())
      return fulfil(reply, read) { reply, _ in
        self.answer(directory, offset: offset, size: size, plus: plus, reply)
      }
    }
    answer(directory, offset: offset, size: size, plus: plus, reply)
  }

  private func answer(
    _ directory: OpenDirectory, offset: Int64, size: Int, plus: Bool, _ reply: consuming FuseReply
  ) {
    let dots = [".", ".."]
    var items: [DirectoryItem] = []
    var first = 0
    reply.directory(size: size, from: offset, plus: plus) { index in
      if index < dots.count {
        // The kernel makes nothing of them but their type.
        let attributes = NodeAttributes(node: directory.node, isDirectory: true, permissions: 0o755)
        return (
          dots[index],
          FuseEntry(
            node: 0, attributes: self.fuseAttributes(attributes), attributeTimeout: 0, entryTimeout: 0)
        )
      }
      let wanted = index - dots.count
      if wanted - first >= items.count {
        first = wanted
        items = directory.items(from: wanted, count: Self.batch)
      }
      guard wanted - first < items.count else { return nil }
      return (items[wanted - first].name, self.listed(items[wanted - first]))
    }
  }

  /// So many items are looked at together: about as many as fit into one answer.
  private static let batch = 128

  private func listed(_ item: DirectoryItem) -> FuseEntry {
    let attributes = item.attributes
    let number = numbers.number(attributes.node)
    var entry = FuseEntry(
      // What has no lasting attributes is looked up when it is asked for.
      node: attributes.timeout == 0 ? 0 : number,
      attributes: fuseAttributes(attributes),
      attributeTimeout: attributes.timeout,
      entryTimeout: attributes.timeout)
    entry.generation = numbers.generation(of: number)
    return entry
  }

  package func releaseDirectory(handle: UInt64, reply: consuming FuseReply) {
    handles.remove(handle)
    reply.succeed()
  }
}
