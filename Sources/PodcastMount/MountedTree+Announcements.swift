internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Answers to the emitter's own requests, none of which changes anything: see `InotifyEmitter`.
extension MountedTree {
  /// What is being made known, where a request of the emitter's thread is about that name.
  func announced(_ name: String, in parent: UInt64, _ caller: FuseCaller) -> InotifyEmitter.Entry? {
    guard let entry = emitter.entry(from: caller.thread), entry.name.name == name,
      numbers.number(entry.name.directory) == parent
    else { return nil }
    return entry
  }

  /// A name that is to appear is not there yet, one that is to disappear still is.
  func lookup(_ announced: InotifyEmitter.Entry, reply: consuming FuseReply) {
    switch announced.name.event {
    case .appeared: reply.fail(.ENOENT)
    case .vanished: reply.entry(shortLived(announced))
    case .replaced:
      fulfil(reply, current(announced)) { reply, attributes in reply.entry(self.entry(attributes)) }
    }
  }

  private func current(_ announced: InotifyEmitter.Entry) -> Answer<NodeAttributes> {
    let caller = Caller(user: tree.owner.user, thread: 0)
    return tree.lookup(announced.name.name, in: announced.name.directory, for: caller)
  }

  /// An entry that holds for the one call that removes or makes it.
  private func shortLived(_ announced: InotifyEmitter.Entry) -> FuseEntry {
    let (node, isDirectory) = (announced.name.node, announced.name.isDirectory)
    var attributes = NodeAttributes(
      node: node, isDirectory: isDirectory, permissions: isDirectory ? 0o755 : 0o644)
    attributes.size = isDirectory ? 4096 : 1
    if case .ready(.success(let known)) = tree.attributes(of: node) { attributes = known }
    attributes.timeout = 0
    return entry(attributes, number: announced.number)
  }

  /// open(O_CREAT): what is there is what is made, or what was there. It is closed at once.
  func create(_ announced: InotifyEmitter.Entry, reply: consuming FuseReply) {
    var options = FuseOpenOptions(handle: handles.takeNumber())
    options.isDirect = true
    fulfil(reply, current(announced)) { [options] reply, attributes in
      reply.created(self.entry(attributes), options)
    } failing: { [options] reply, _ in
      reply.created(self.shortLived(announced), options)
    }
  }

  func makeDirectory(_ announced: InotifyEmitter.Entry, reply: consuming FuseReply) {
    fulfil(reply, current(announced)) { reply, attributes in
      reply.entry(self.entry(attributes))
    } failing: { reply, _ in
      reply.entry(self.shortLived(announced))
    }
  }
}
