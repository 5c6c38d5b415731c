package import FuseKit
internal import PodcastTree

/// setxattr, getxattr, listxattr, removexattr.
extension MountedTree {
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
