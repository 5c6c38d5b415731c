package import FuseKit
internal import PodcastTree
internal import PosixKit

/// lookup, getattr, setattr, access, statfs, and extended attributes.
extension MountedTree {
  package func lookup(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if isShut(to: caller) { return reply.fail(.EACCES) }
    if let entry = announced(name, in: parent, caller) { return lookup(entry, reply: reply) }
    let parent = numbers.node(parent)
    let answer = inFlight.during(
      .looking(in: parent), tree.lookup(name, in: parent, for: self.caller(caller)))
    fulfil(reply, answer) { reply, attributes in reply.entry(self.entry(attributes)) }
  }

  package func attributes(node: UInt64, caller: FuseCaller, reply: consuming FuseReply) {
    fulfil(reply, tree.attributes(of: numbers.node(node))) { reply, attributes in
      reply.attributes(self.fuseAttributes(attributes), timeout: attributes.timeout)
    }
  }

  package func change(
    node: UInt64, changes: FuseChanges, to size: Int64, caller: FuseCaller, reply: consuming FuseReply
  ) {
    if emitter.entry(from: caller.thread)?.name.event == .replaced {
      return attributes(node: node, caller: caller, reply: reply)
    }
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    let known = numbers.node(node)
    let onlyTimes = changes.isDisjoint(with: [.mode, .owner, .group, .size])
    let answer = tree.change(
      known, size: changes.contains(.size) ? size : nil, onlyTimes: onlyTimes, for: self.caller(caller))
    fulfil(reply, inFlight.during(.looking(in: known), answer)) { reply, attributes in
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
    reply.statistics(total: numbers.total, free: numbers.free, available: numbers.available)
  }

  package func setAttribute(
    node: UInt64, name: String, value: [UInt8], flags: Int32, caller: FuseCaller, reply: consuming FuseReply
  ) {
    let node = numbers.node(node)
    let answer = tree.setExtendedAttribute(name, to: value, of: node, flags: flags, for: self.caller(caller))
    fulfil(reply, verb(.looking(in: node), answer)) { reply, _ in reply.succeed() }
  }

  package func attribute(
    node: UInt64, name: String, size: Int, caller: FuseCaller, reply: consuming FuseReply
  ) {
    let answer = tree.extendedAttribute(name, of: numbers.node(node), for: self.caller(caller))
    fulfil(reply, answer) { reply, value in reply.attributeValue(value, size: size) }
  }

  package func listAttributes(
    node: UInt64, size: Int, caller: FuseCaller, reply: consuming FuseReply
  ) {
    let answer = tree.extendedAttributeNames(of: numbers.node(node), for: self.caller(caller))
    fulfil(reply, answer) { reply, names in reply.attributeValue(names, size: size) }
  }

  package func removeAttribute(
    node: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply
  ) {
    let answer = tree.removeExtendedAttribute(name, of: numbers.node(node), for: self.caller(caller))
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }
}
