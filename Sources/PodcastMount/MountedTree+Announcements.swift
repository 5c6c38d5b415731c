internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Answers to the announcer's own requests, none of which does anything: see `Announcer`.
extension MountedTree {
  /// The announcement that a request is about.
  func announcement(_ name: String?, in parent: UInt64?, _ caller: FuseCaller) -> Difference.Name? {
    guard let found = announcer.announcement(from: caller.thread) else { return nil }
    if let name, name != found.name, found.event != .moved(to: name) { return nil }
    if let parent, parent != announcer.number(of: found.directory) { return nil }
    return found
  }

  /// A name that is to appear is not there yet, one that is to disappear still is.
  func lookup(_ announced: Difference.Name, as name: String, reply: consuming FuseReply) {
    switch announced.event {
    case .moved:
      if name != announced.name { return reply.fail(.ENOENT) }
      reply.entry(gone(announced.node, isDirectory: true))
    case .appeared: reply.fail(.ENOENT)
    case .vanished: reply.entry(gone(announced.node, isDirectory: announced.isDirectory))
    case .replaced, .uncertain:
      let caller = Caller(user: tree.owner.user, thread: 0)
      fulfil(reply, tree.lookup(announced.name, in: announced.directory, for: caller)) { reply, attributes in
        reply.entry(self.entry(attributes))
      }
    }
  }

  /// An entry that holds for the one call that takes it away, or leads through it.
  func gone(_ node: NodeID, isDirectory: Bool) -> FuseEntry {
    var attributes = NodeAttributes(
      node: node, isDirectory: isDirectory, permissions: isDirectory ? 0o755 : 0o644)
    attributes.timeout = 0
    attributes.size = isDirectory ? 4096 : 1
    if case .ready(.success(let known)) = tree.attributes(of: node) { attributes = known }
    var entry = self.entry(attributes, number: announcer.number(of: node))
    entry.generation = incarnations.last(of: node)
    entry.attributeTimeout = 0
    entry.entryTimeout = 0
    return entry
  }

  /// open(O_CREAT): what is there is what is made, or what was there.
  func create(_ announced: Difference.Name, reply: consuming FuseReply) {
    let caller = Caller(user: tree.owner.user, thread: 0)
    fulfil(reply, tree.lookup(announced.name, in: announced.directory, for: caller)) { reply, attributes in
      self.create(self.entry(attributes), attributes.node, reply)
    } failing: { reply, _ in
      self.create(self.gone(announced.node, isDirectory: announced.isDirectory), announced.node, reply)
    }
  }

  /// It is closed at once.
  private func create(_ entry: FuseEntry, _ node: NodeID, _ reply: consuming FuseReply) {
    let (handle, way) = handles.addAnnounced(node)
    var options = FuseOpenOptions(handle: handle)
    if case .backed(let file) = way { options.backing = file } else { options.isDirect = true }
    if !reply.created(entry, options) { _ = handles.removeFile(handle) }
  }

  func makeDirectory(_ announced: Difference.Name, reply: consuming FuseReply) {
    let caller = Caller(user: tree.owner.user, thread: 0)
    fulfil(reply, tree.lookup(announced.name, in: announced.directory, for: caller)) { reply, attributes in
      reply.entry(self.entry(attributes))
    } failing: { reply, _ in
      reply.entry(self.gone(announced.node, isDirectory: announced.isDirectory))
    }
  }
}
