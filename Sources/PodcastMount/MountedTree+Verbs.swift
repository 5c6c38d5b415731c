package import FuseKit
internal import PodcastTree
internal import PosixKit

/// mkdir, rmdir, unlink, rename, create, and what makes nodes of other kinds.
extension MountedTree {
  package func makeDirectory(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if let announced = announcement(name, in: parent, caller) {
      return makeDirectory(announced, reply: reply)
    }
    if announcer.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    let made = making(name, in: parent, tree.makeDirectory(name, in: parent, for: self.caller(caller)))
    let answer = repeated(caller, made, done: .EEXIST) {
      self.tree.lookup(name, in: parent, for: self.caller(caller))
    }
    fulfil(reply, answer) { reply, attributes in reply.entry(self.entry(attributes)) }
  }

  package func removeDirectory(
    parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply
  ) {
    if announcement(name, in: parent, caller) != nil { return reply.succeed() }
    if announcer.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    let removal = tree.removeDirectory(name, in: parent, for: self.caller(caller))
    let answer = telling([(name, parent, .vanished)], repeated(caller, removal, done: .ENOENT) { .value(()) })
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }

  package func unlink(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if announcement(name, in: parent, caller) != nil { return reply.succeed() }
    if announcer.isOwn(caller) { return reply.fail(.EIO) }
    let parent = numbers.node(parent)
    let removal = tree.remove(name, in: parent, for: self.caller(caller))
    let answer = telling([(name, parent, .vanished)], repeated(caller, removal, done: .ENOENT) { .value(()) })
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }

  package func rename(
    parent: UInt64, name: String, newParent: UInt64, newName: String, flags: UInt32, caller: FuseCaller,
    reply: consuming FuseReply
  ) {
    if let announced = announcement(name, in: parent, caller), newParent == parent,
      announced.event == .moved(to: newName)
    {
      return reply.succeed()
    }
    if announcer.isOwn(caller) { return reply.fail(.EIO) }
    let (parent, newParent) = (numbers.node(parent), numbers.node(newParent))
    let renaming = tree.rename(
      name, in: parent, to: newName, in: newParent, flags: flags, for: self.caller(caller))
    let done = repeated(caller, making(newName, in: newParent, renaming), done: .ENOENT) {
      self.tree.lookup(newName, in: newParent, for: self.caller(caller)).map { _ in }
    }
    let answer = telling([(name, parent, .vanished), (newName, newParent, .appeared)], done)
    fulfil(reply, answer) { reply, _ in reply.succeed() }
  }

  /// The answer to a verb that the process before may have carried out without telling.
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

  /// Notes names that the kernel makes or takes away itself while `answer` is awaited: of what is in `names` it tells who
  /// watches.
  private func telling<Value: Sendable>(
    _ names: [(name: String, directory: NodeID, event: Difference.Event)], _ answer: Answer<Value>
  ) -> Answer<Value> {
    let ends = { @Sendable (result: Result<Value, Errno>) in
      let isDone = (try? result.get()) != nil
      for name in names {
        self.announcer.ends(name.name, in: name.directory, told: isDone ? name.event : nil)
      }
    }
    for name in names { announcer.begins(name.name, in: name.directory) }
    switch answer {
    case .ready(let result):
      ends(result)
      return answer
    case .pending(let start):
      return .pending { completion in
        start { result in
          ends(result)
          completion(result)
        }
      }
    }
  }

  package func makeOther(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    reply.fail(tree.owner.admits(self.caller(caller)) ? .EROFS : .EACCES)
  }

  package func create(parent: UInt64, name: String, caller: FuseCaller, reply: consuming FuseReply) {
    if let announced = announcement(name, in: parent, caller) { return create(announced, reply: reply) }
    if announcer.isOwn(caller) { return reply.fail(.EIO) }
    if caller.isRepeated { handles.forgetAnswer(to: caller.request) }
    let answer = tree.create(name, in: numbers.node(parent), for: self.caller(caller))
    fulfil(reply, answer) { reply, created in
      let node = created.attributes.node
      let (handle, _) = self.handles.add(created.file, self.opening(node, caller, writes: true))
      var options = FuseOpenOptions(handle: handle)
      options.isDirect = true
      let isTaken = reply.created(self.entry(created.attributes), options)
      if !isTaken { self.handles.removeFile(handle)?.file.close() }
    }
  }
}
