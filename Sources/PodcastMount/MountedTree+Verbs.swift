package import FuseKit
internal import PodcastTree
internal import PosixKit

/// mkdir, rmdir, unlink, rename, create, and what makes nodes of other kinds.
extension MountedTree {
  package func makeDirectory(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if let entry = announced(name, in: parent, caller) { return makeDirectory(entry, reply: reply) }
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    let made = tree.makeDirectory(name, in: parent, for: self.caller(caller))
    let answer = repeated(caller, made, done: .EEXIST) {
      self.tree.lookup(name, in: parent, for: self.caller(caller))
    }
    fulfil(reply, verb(.making(name, in: parent), answer)) { reply, attributes in
      reply.entry(self.entry(attributes))
    }
  }

  package func removeDirectory(
    parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply
  ) {
    if announced(name, in: parent, caller) != nil { return reply.succeed() }
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    remove(name, in: parent, caller, reply, tree.removeDirectory(name, in: parent, for: self.caller(caller)))
  }

  package func unlink(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if announced(name, in: parent, caller) != nil { return reply.succeed() }
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    remove(name, in: parent, caller, reply, tree.remove(name, in: parent, for: self.caller(caller)))
  }

  private func remove(
    _ name: String, in parent: NodeID, _ caller: FuseCaller, _ reply: consuming FuseReply,
    _ removal: Answer<Void>
  ) {
    let answer = repeated(caller, removal, done: .ENOENT) { .value(()) }
    fulfil(reply, verb(.removing(name, in: parent), answer)) { reply, _ in reply.succeed() }
  }

  package func rename(
    parent: UInt64, name: String, newParent: UInt64, newName: String, flags: UInt32, caller: FuseCaller,
    reply: consuming FuseReply
  ) {
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    let (parent, newParent) = (numbers.node(parent), numbers.node(newParent))
    let renaming = tree.rename(
      name, in: parent, to: newName, in: newParent, flags: flags, for: self.caller(caller))
    let answer = repeated(caller, renaming, done: .ENOENT) {
      self.tree.lookup(newName, in: newParent, for: self.caller(caller)).map { _ in }
    }
    let operation = InFlightOperations.Operation.renaming(name, in: parent, to: newName, in: newParent)
    fulfil(reply, verb(operation, answer)) { reply, _ in reply.succeed() }
  }

  package func link(
    node: UInt64, parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply
  ) {
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    let answer = tree.link(numbers.node(node), name, in: parent, for: self.caller(caller))
    fulfil(reply, verb(.making(name, in: parent), answer)) { reply, attributes in
      reply.entry(self.entry(attributes))
    }
  }

  /// A verb's answer, with the verb in the table of requests under way. A success ends when the verb's notifications have
  /// been sent to the kernel.
  func verb<Value: Sendable>(
    _ operation: InFlightOperations.Operation, _ answer: Answer<Value>
  ) -> Answer<Value> {
    inFlight.during(
      operation,
      answer.then { value in
        .pending { completion in
          self.kernel.whenSent { completion(.success(value)) }
          return {}
        }
      })
  }

  /// The answer to a verb that the process before may have carried out without answering.
  /// - Parameters:
  ///   - answer: what carrying it out once more gives.
  ///   - done: the failure of that where it had been carried out.
  ///   - found: the answer then.
  private func repeated<Value: Sendable>(
    _ caller: FuseCaller, _ answer: Answer<Value>, done: Errno,
    _ found: @escaping @Sendable () -> Answer<Value>
  ) -> Answer<Value> {
    caller.isRepeated ? answer.recover { $0 == done ? found() : .failure($0) } : answer
  }

  package func makeOther(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    reply.fail(tree.owner.admits(self.caller(caller)) ? .EROFS : .EACCES)
  }

  package func create(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if let entry = announced(name, in: parent, caller) { return create(entry, reply: reply) }
    if emitter.isOwn(caller) { return reply.fail(.EIO) }
    if caller.isRepeated { handles.forgetAnswer(to: caller.request) }
    let parent = numbers.node(parent)
    let answer = tree.create(name, in: parent, for: self.caller(caller))
    fulfil(reply, verb(.making(name, in: parent), answer)) { reply, created in
      let handle = self.handles.add(created.file, .init(created.attributes.node, caller, writes: true))
      var options = FuseOpenOptions(handle: handle)
      options.isDirect = true
      let isTaken = reply.created(self.entry(created.attributes), options)
      if !isTaken { self.handles.remove(handle)?.close() }
    }
  }
}
