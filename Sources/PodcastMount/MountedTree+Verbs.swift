package import FuseKit
internal import PodcastTree
internal import PosixKit

extension MountedTree {
  package func makeDirectory(_ call: FuseCall, _ reply: consuming FuseReply) {
    if let entry = announced(call) { return answer(entry, reply) { reply, entry in reply.entry(entry) } }
    let parent = numbers.node(call.node)
    perform(call, .init(parent, making: call.name), reply, failureIfDone: .EEXIST) { tree, caller in
      tree.makeDirectory(call.name, in: parent, for: caller)
    } done: { tree, caller in
      tree.lookup(call.name, in: parent, for: caller)
    } answer: { reply, attributes in
      reply.entry(self.entry(attributes))
    }
  }

  package func removeDirectory(_ call: FuseCall, _ reply: consuming FuseReply) {
    remove(call, reply) { $0.removeDirectory(call.name, in: $1, for: $2) }
  }

  package func unlink(_ call: FuseCall, _ reply: consuming FuseReply) {
    remove(call, reply) { $0.remove(call.name, in: $1, for: $2) }
  }

  private func remove(
    _ call: FuseCall, _ reply: consuming FuseReply, _ work: (PodcastTree, NodeID, Caller) -> Answer<Void>
  ) {
    if announced(call) != nil { return reply.succeed() }
    let parent = numbers.node(call.node)
    perform(call, .init(parent, removing: call.name), reply, failureIfDone: .ENOENT) {
      work($0, parent, $1)
    } done: { _, _ in
      .value(())
    } answer: { reply, _ in
      reply.succeed()
    }
  }

  package func rename(
    _ call: FuseCall, to newName: String, in newParent: UInt64, flags: UInt32, _ reply: consuming FuseReply
  ) {
    let (parent, newParent) = (numbers.node(call.node), numbers.node(newParent))
    perform(
      call, .init(parent, newParent, removing: call.name, making: newName), reply, failureIfDone: .ENOENT
    ) { tree, caller in
      tree.rename(call.name, in: parent, to: newName, in: newParent, flags: flags, for: caller)
    } done: { tree, caller in
      tree.lookup(newName, in: newParent, for: caller).map { _ in }
    } answer: { reply, _ in
      reply.succeed()
      // The kernel now has the result's folder there.
      if parent.kind == .search, parent != newParent {
        self.kernel.forgetLater(newName, in: newParent.rawValue)
      }
    }
  }

  package func link(_ call: FuseCall, to node: UInt64, _ reply: consuming FuseReply) {
    let (node, parent) = (numbers.node(node), numbers.node(call.node))
    perform(call, .init(parent, making: call.name), reply) { tree, caller in
      tree.link(node, call.name, in: parent, for: caller)
    } answer: { reply, attributes in
      reply.entry(self.entry(attributes))
    }
  }

  package func create(_ call: FuseCall, _ reply: consuming FuseReply) {
    if let entry = announced(call) { return create(entry, reply) }
    let parent = numbers.node(call.node)
    perform(call, .init(parent, making: call.name), reply) { tree, caller in
      tree.create(call.name, in: parent, for: caller)
    } answer: { reply, created in
      let handle = self.handles.add(
        created.file, .init(created.attributes.node, self.caller(call), writes: true))
      let isTaken = reply.created(self.entry(created.attributes), .init(handle: handle, isDirect: true))
      if !isTaken { self.handles.remove(handle)?.close() }
    }
  }

  package func makeOther(_ call: FuseCall, _ reply: consuming FuseReply) {
    reply.fail(tree.owner.admits(caller(call)) ? .EROFS : .EACCES)
  }

  package func setAttribute(_ call: FuseCall, to value: [UInt8], flags: Int32, _ reply: consuming FuseReply) {
    let node = numbers.node(call.node)
    // The process before may have set it, and died before its answer: XATTR_CREATE would fail now.
    let flags = call.isRepeated ? 0 : flags
    perform(call, .init(node), reply) { tree, caller in
      tree.setExtendedAttribute(call.name, to: value, of: node, flags: flags, for: caller)
    } answer: { reply, _ in
      reply.succeed()
    }
  }

  /// Carries a verb out, and notes it in the table of requests under way meanwhile. A success ends when the verb's
  /// notifications have been sent to the kernel. The emitter's own requests change nothing.
  /// - Parameters:
  ///   - failureIfDone: the failure of `work` where the process before has carried the verb out without answering.
  ///   - done: what gives the answer then.
  private func perform<Value: Sendable>(
    _ call: FuseCall, _ operation: InFlightOperations.Operation, _ reply: consuming FuseReply,
    failureIfDone: Errno? = nil, _ work: (PodcastTree, Caller) -> Answer<Value>,
    done: @escaping @Sendable (PodcastTree, Caller) -> Answer<Value> = { _, _ in .failure(.EIO) },
    answer: @escaping @Sendable (consuming FuseReply, Value) -> Void
  ) {
    let thread = call.thread
    if emitter.entry(from: thread) != nil || call.isRepeated && InotifyEmitter.isOfKilled(thread) {
      return reply.fail(.EIO)
    }
    let (tree, caller) = (tree, caller(call))
    var result = work(tree, caller)
    if call.isRepeated, let failureIfDone {
      result = result.recover { $0 == failureIfDone ? done(tree, caller) : .failure($0) }
    }
    let sent = result.then { value in
      .pending { _, completion in self.kernel.whenSent { completion(.success(value)) } }
    }
    fulfil(reply, inFlight.during(operation, sent), answer)
  }
}
