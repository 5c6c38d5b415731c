package import FuseKit
internal import PodcastTree
internal import PosixKit

extension MountedTree {
  package func openDirectory(_ call: FuseCall, _ reply: consuming FuseReply) {
    if isShut(to: call) { return reply.fail(.EACCES) }
    let node = numbers.node(call.node)
    let isKept = kernel.hasListing(of: node)
    fulfil(reply, tree.openDirectory(node, for: caller(call), isKept: isKept)) { reply, directory in
      let handle = self.handles.add(directory)
      let options = FuseOpenOptions(handle: handle, keepsCache: isKept, cachesListing: directory.isCacheable)
      if !isKept && directory.isCacheable {
        self.kernel.noteListing(of: node)
        // It has changed since it was looked up.
        if !directory.isCurrent { self.kernel.forgetListing(of: node) }
      }
      if !reply.opened(options) { self.handles.remove(handle) }
    }
  }

  package func readDirectory(
    _ call: FuseCall, at offset: Int64, size: Int, plus: Bool, _ reply: consuming FuseReply
  ) {
    guard let directory = handles.directory(call.handle) else {
      // A process before had it open.
      let opened = tree.openDirectory(numbers.node(call.node), for: .owner(tree.owner))
      return fulfil(reply, opened) { reply, directory in
        self.handles.put(directory, call.handle)
        self.readDirectory(call, at: offset, size: size, plus: plus, reply)
      }
    }
    // From the beginning (also once more: rewinddir(3)) it is as it is now.
    let isToRead = !directory.isRead || offset == 0 && !directory.isCurrent
    let read: Answer<Void> = isToRead ? inFlight.during(.init(directory.node), directory.read()) : .value(())
    fulfil(reply, read) { reply, _ in self.answer(directory, at: offset, size: size, plus: plus, reply) }
  }

  private func answer(
    _ directory: OpenDirectory, at offset: Int64, size: Int, plus: Bool, _ reply: consuming FuseReply
  ) {
    let dots = [".", ".."]
    var items: [DirectoryItem] = []
    var first = 0
    reply.directory(size: size, from: offset, plus: plus) { index in
      if index < dots.count {
        // The kernel makes nothing of them but their type.
        return (dots[index], self.entry(NodeAttributes(node: directory.node, permissions: 0o755), number: 0))
      }
      let wanted = index - dots.count
      if wanted - first >= items.count {
        first = wanted
        items = directory.items(from: wanted, count: size / Self.entrySize + 1)
      }
      guard wanted - first < items.count else { return nil }
      let item = items[wanted - first]
      // Number 0 has the kernel look the name up when a program asks for it: its attributes change too often.
      return (item.name, self.entry(item.attributes, number: item.attributes.timeout == 0 ? 0 : nil))
    }
  }

  /// Of an entry with its attributes and a name of usual length, in bytes. About as many items as fit into one answer are
  /// looked at together: kernels before 6.16 want 4096 bytes at once.
  private static let entrySize = 192

  package func releaseDirectory(_ call: FuseCall, _ reply: consuming FuseReply) {
    handles.remove(call.handle)
    reply.succeed()
  }
}
