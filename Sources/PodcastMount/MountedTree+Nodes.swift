package import FuseKit
internal import PodcastTree
internal import PosixKit

extension MountedTree {
  package func lookup(_ call: FuseCall, _ reply: consuming FuseReply) {
    if isShut(to: call) { return reply.fail(.EACCES) }
    if let entry = announced(call) { return lookup(entry, reply) }
    let parent = numbers.node(call.node)
    let answer = inFlight.during(.init(parent), tree.lookup(call.name, in: parent, for: caller(call)))
    fulfil(reply, answer) { reply, attributes in reply.entry(self.entry(attributes)) }
  }

  package func attributes(_ call: FuseCall, _ reply: consuming FuseReply) {
    answer(tree.attributes(of: numbers.node(call.node)), reply)
  }

  package func change(_ call: FuseCall, size: Int64?, onlyTimes: Bool, _ reply: consuming FuseReply) {
    if emitter.entry(from: call.thread)?.name.event == .replaced { return attributes(call, reply) }
    if emitter.entry(from: call.thread) != nil { return reply.fail(.EIO) }
    let node = numbers.node(call.node)
    let changed = tree.change(node, size: size, onlyTimes: onlyTimes, for: caller(call))
    answer(inFlight.during(.init(node), changed), reply)
  }

  private func answer(_ attributes: Answer<NodeAttributes>, _ reply: consuming FuseReply) {
    fulfil(reply, attributes) { reply, attributes in reply.attributes(self.entry(attributes)) }
  }

  package func access(_ call: FuseCall, mask: Int32, _ reply: consuming FuseReply) {
    if isShut(to: call) && mask != 0 { return reply.fail(.EACCES) }
    let answer = tree.access(numbers.node(call.node), mask: mask, for: caller(call))
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }

  package func statistics(_ reply: consuming FuseReply) {
    let numbers = tree.statistics()
    reply.statistics(total: numbers.total, free: numbers.free, available: numbers.available)
  }

  package func attribute(_ call: FuseCall, size: Int, _ reply: consuming FuseReply) {
    let answer = tree.extendedAttribute(call.name, of: numbers.node(call.node))
    fulfil(reply, answer) { reply, value in reply.attributeValue(value, size: size) }
  }

  package func listAttributes(_ call: FuseCall, size: Int, _ reply: consuming FuseReply) {
    let answer = tree.extendedAttributeNames(of: numbers.node(call.node))
    fulfil(reply, answer) { reply, names in reply.attributeValue(names, size: size) }
  }

  package func removeAttribute(_ call: FuseCall, _ reply: consuming FuseReply) {
    let removed = tree.removeExtendedAttribute(call.name, of: numbers.node(call.node), for: caller(call))
    let answer = call.isRepeated ? removed.recover { $0 == .ENODATA ? .value(()) : .failure($0) } : removed
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }
}
