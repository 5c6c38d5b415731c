package import FuseKit
internal import PodcastTree
internal import PosixKit

/// mkdir, rmdir, unlink, rename, create, and what makes nodes of other kinds.
extension MountedTree {
  package func makeDirectory(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if let announced = announcement(name, in: parent, caller) {
      return makeDirectory(announced, reply: reply)
    }
    let parent = numbers.node(parent)
    let answer = making(name, in: parent, tree.makeDirectory(name, in: parent, for: self.caller(caller)))
    fulfil(reply, answer) { reply, attributes in reply.entry(self.entry(attributes)) }
  }

  package func removeDirectory(
    parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply
  ) {
    if announcement(name, in: parent, caller) != nil { return reply.succeed() }
    let answer = tree.removeDirectory(name, in: numbers.node(parent), for: self.caller(caller))
    let parent = numbers.node(parent)
    fulfil(reply, answer) { reply, _ in
      self.announcer.isTold(name, in: parent)
      reply.succeed()
    }
  }

  package func unlink(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if announcement(name, in: parent, caller) != nil { return reply.succeed() }
    let parent = numbers.node(parent)
    fulfil(reply, tree.remove(name, in: parent, for: self.caller(caller))) { reply, _ in
      self.announcer.isTold(name, in: parent)
      reply.succeed()
    }
  }

  package func rename(
    parent: UInt64, name: String, newParent: UInt64, newName: String, flags: UInt32, caller: FuseCaller,
    reply: consuming FuseReply
  ) {
    let newParent = numbers.node(newParent)
    let renaming = tree.rename(
      name, in: numbers.node(parent), to: newName, in: newParent, flags: flags, for: self.caller(caller))
    let answer = making(newName, in: newParent, renaming)
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }

  /// Notes a name that the kernel makes itself while `answer` is awaited: it is not to forget it, and tells who watches.
  private func making<Value: Sendable>(
    _ name: String, in parent: NodeID, _ answer: Answer<Value>
  ) -> Answer<Value> {
    guard case .pending(let start) = answer else { return answer }
    let made = MadeName(name: name, directory: parent)
    return .pending { completion in
      self.makes.withLock { _ = $0.insert(made) }
      return start { result in
        self.makes.withLock { _ = $0.remove(made) }
        completion(result)
      }
    }
  }

  package func makeOther(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    reply.fail(tree.owner.admits(self.caller(caller)) ? .EROFS : .EACCES)
  }

  package func create(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if let announced = announcement(name, in: parent, caller) { return create(announced, reply: reply) }
    let answer = tree.create(name, in: numbers.node(parent), for: self.caller(caller))
    fulfil(reply, answer) { reply, created in
      let node = created.attributes.node
      let handle = self.handles.add(HandleTable.File(node: node, file: created.file))
      var options = FuseOpenOptions(handle: handle)
      options.isDirect = true
      let isTaken = reply.created(self.entry(created.attributes), options)
      if !isTaken { self.handles.removeFile(handle)?.file.close() }
    }
  }
}
