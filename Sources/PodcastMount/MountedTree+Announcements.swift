internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Answers to the emitter's own requests, none of which changes anything: see `InotifyEmitter`.
extension MountedTree {
  /// What is being made known, where a request of the emitter's thread is about that name.
  func announced(_ call: FuseCall) -> InotifyEmitter.Entry? {
    guard let entry = emitter.entry(from: call.caller.thread), entry.name.name == call.name,
      entry.name.directory.rawValue == call.node
    else { return nil }
    return entry
  }

  /// A name that is to appear is not there yet, one that is to disappear still is.
  func lookup(_ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply) {
    switch announced.name.event {
    case .appeared: reply.fail(.ENOENT)
    case .vanished: reply.entry(shortLived(announced))
    case .replaced:
      fulfil(reply, current(announced)) { reply, attributes in reply.entry(self.entry(attributes)) }
    }
  }

  private func current(_ announced: InotifyEmitter.Entry) -> Answer<NodeAttributes> {
    tree.lookup(announced.name.name, in: announced.name.directory, for: .owner(tree.owner))
  }

  /// An entry that holds for the one call that removes or makes it.
  private func shortLived(_ announced: InotifyEmitter.Entry) -> FuseEntry {
    let node = announced.name.node
    var attributes = NodeAttributes(node: node, permissions: node.isDirectory ? 0o755 : 0o644, size: 1)
    if case .ready(.success(let known)) = tree.attributes(of: node) { attributes = known }
    attributes.timeout = 0
    return entry(attributes, number: announced.number)
  }

  /// What is there is what is made, or what was there.
  private func made(
    _ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply,
    _ answer: @escaping @Sendable (consuming FuseReply, FuseEntry) -> Void
  ) {
    fulfil(reply, current(announced)) { reply, attributes in
      answer(reply, self.entry(attributes))
    } failing: { reply, _ in
      answer(reply, self.shortLived(announced))
    }
  }

  /// open(O_CREAT). It is closed at once.
  func create(_ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply) {
    let options = FuseOpenOptions(handle: handles.takeNumber(), isDirect: true)
    made(announced, reply) { reply, entry in reply.created(entry, options) }
  }

  func makeDirectory(_ announced: InotifyEmitter.Entry, _ reply: consuming FuseReply) {
    made(announced, reply) { reply, entry in reply.entry(entry) }
  }
}
