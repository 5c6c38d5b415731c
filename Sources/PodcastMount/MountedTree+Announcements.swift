internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Answers to the emitter's own requests, none of which changes anything: see `InotifyEmitter`.
extension MountedTree {
  /// What is being made known, where a request of the emitter's thread is about that name.
  func announced(_ call: FuseCall) -> InotifyEmitter.Entry? {
    guard let entry = emitter.entry(from: call.thread), entry.name.name == call.name,
      entry.name.directory.rawValue == call.node
    else { return nil }
    return entry
  }

  /// A name that is to appear is not there yet, one that is to disappear still is.
  func lookup(_ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply) {
    if announced.name.event == .appeared { return reply.fail(.ENOENT) }
    answer(announced, reply) { reply, entry in reply.entry(entry) }
  }

  /// open(O_CREAT). It is closed at once.
  func create(_ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply) {
    let options = FuseOpenOptions(handle: handles.takeNumber(), isDirect: true)
    answer(announced, reply) { reply, entry in reply.created(entry, options) }
  }

  /// Gives what the name leads to. Where that is nothing, gives an entry that holds for the one call that is made.
  func answer(
    _ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply,
    _ respond: @escaping @Sendable (consuming FuseReply, FuseEntry) -> Void
  ) {
    let (name, node) = (announced.name, announced.name.node)
    let current: Answer<NodeAttributes> =
      name.event == .vanished
      ? .failure(.ENOENT) : tree.lookup(name.name, in: name.directory, for: .owner(tree.owner))
    fulfil(reply, current) { reply, attributes in
      respond(reply, self.entry(attributes))
    } failing: { reply, _ in
      var attributes = NodeAttributes(node: node, permissions: node.isDirectory ? 0o755 : 0o644, size: 1)
      if case .ready(.success(let known)) = self.tree.attributes(of: node) { attributes = known }
      attributes.timeout = 0
      respond(reply, self.entry(attributes, number: announced.number))
    }
  }
}
