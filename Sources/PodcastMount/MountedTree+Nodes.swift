package import FuseKit
internal import PodcastTree
internal import PosixKit

/// lookup, getattr, setattr, access, statfs.
extension MountedTree {
  package func lookup(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if isShut(to: caller) { return reply.fail(.EACCES) }
    if let announced = announcement(name, in: parent, caller) {
      return lookup(announced, as: name, reply: reply)
    }
    if let ended = announcer.ended(name, in: parent, from: caller.thread) {
      return reply.entry(gone(ended, isDirectory: true))
    }
    let parent = numbers.node(parent)
    fulfil(reply, tree.lookup(name, in: parent, for: self.caller(caller))) { reply, attributes in
      var entry = self.entry(attributes)
      // Where another directory of that name is still to end, the kernel must not take this one for it.
      if attributes.isDirectory && self.announcer.isToTell(of: name, in: parent) { entry.entryTimeout = 0 }
      reply.entry(entry)
    } failing: { reply, errno in
      // A name that appears is told to the kernel, wherever it appears. One that has just gone is taken away once more,
      // for those who watch.
      if errno == .ENOENT && self.tree.tells(of: name, in: parent)
        && !self.announcer.isToTell(of: name, in: parent)
      {
        return reply.missing(timeout: 3600)
      }
      reply.fail(errno)
    }
  }

  package func forget(node: UInt64, count: UInt64) {
    let known = numbers.node(node)
    if known.isDirectory, directories.forget(node, count) { tree.kernelForgot(known) }
  }

  package func attributes(node: UInt64, handle: UInt64?, caller: FuseCaller, reply: consuming FuseReply) {
    fulfil(reply, tree.attributes(of: numbers.node(node))) { reply, attributes in
      reply.attributes(self.fuseAttributes(attributes), timeout: attributes.timeout)
    }
  }

  package func change(
    node: UInt64, changes: FuseChanges, to size: Int64, handle: UInt64?, caller: FuseCaller,
    reply: consuming FuseReply
  ) {
    if let announced = announcement(nil, in: nil, caller), announced.event == .replaced {
      return attributes(node: node, handle: handle, caller: caller, reply: reply)
    }
    if announcer.isOwn(caller) { return reply.fail(.EIO) }
    let onlyTimes = changes.isDisjoint(with: [.mode, .owner, .group, .size])
    let answer = tree.change(
      numbers.node(node), size: changes.contains(.size) ? size : nil, onlyTimes: onlyTimes,
      for: self.caller(caller))
    fulfil(reply, answer) { reply, attributes in
      reply.attributes(self.fuseAttributes(attributes), timeout: attributes.timeout)
    }
  }

  package func access(node: UInt64, mask: Int32, caller: FuseCaller, reply: consuming FuseReply) {
    if isShut(to: caller) && mask != 0 { return reply.fail(.EACCES) }
    let answer = tree.access(numbers.node(node), mask: mask, for: self.caller(caller))
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }

  package func statistics(reply: consuming FuseReply) {
    let numbers = tree.statistics()
    reply.statistics(
      FuseStatistics(total: numbers.total, free: numbers.free, available: numbers.available))
  }
}
