package import FuseKit
internal import PodcastModel
package import PodcastTree
internal import PosixKit

/// The tree as a FUSE file system: decodes, asks the tree, answers; parks what the tree can't answer at once.
package final class MountedTree: FuseFileSystem {
  let tree: PodcastTree
  let handles = HandleTable()
  private let session = Monitor<FuseSession?>(nil)
  /// Notifications to the kernel have a thread of their own: one sent while a request holds the page it names
  /// would wait for that request.
  private let notifier = WorkQueue(name: "notifier")
  private let changes = Monitor(Changes())

  package init(_ tree: PodcastTree) {
    self.tree = tree
    tree.onInvalidation { [weak self] invalidations in self?.notify(invalidations) }
  }

  /// Says where the kernel is told what to forget.
  package func attach(to session: FuseSession) { self.session.withLock { $0 = session } }

  /// Before the mount goes: nothing is told to the kernel from here on.
  package func detach() { session.withLock { $0 = nil } }

  // MARK: What the kernel has to forget

  private func notify(_ invalidations: [Invalidation]) {
    changes.withLock { changes in
      for invalidation in invalidations {
        if case .listing(let node) = invalidation { changes.count[node.rawValue, default: 0] += 1 }
      }
    }
    notifier.async { [self] in
      guard let session = session.withLock({ $0 }) else { return }
      for invalidation in invalidations {
        switch invalidation {
        case .attributes(let node): session.invalidate(node: node.rawValue, data: false)
        case .listing(let node): session.invalidate(node: node.rawValue, data: true)
        case .name(let name, let parent): session.invalidate(name: name, in: parent.rawValue)
        }
      }
    }
  }

  func forgetAttributes(of node: UInt64) {
    session.withLock { $0 }?.invalidate(node: node, data: false)
  }

  /// How often each directory has changed since the mount, where it has.
  private struct Changes: ~Copyable {
    var count: [UInt64: Int] = [:]
  }

  func changeCount(of node: NodeID) -> Int { changes.withLock { $0.count[node.rawValue] ?? 0 } }

  /// A listing that was under way while its directory changed has put what was before into the kernel's
  /// cache after that was told to forget.
  func listed(_ directory: HandleTable.Directory) {
    let node = directory.snapshot.node
    if directory.changeCount != changeCount(of: node) {
      notifier.async { [self] in session.withLock { $0 }?.invalidate(node: node.rawValue, data: true) }
    }
  }

  // MARK: Answers

  /// Answers `reply` with what `answer` gives, by `respond`.
  func fulfil<Value: Sendable>(
    _ reply: consuming FuseReply, _ answer: Answer<Value>,
    _ respond: @escaping @Sendable (consuming FuseReply, Value) -> Void
  ) {
    switch answer {
    case .ready(.success(let value)): respond(reply, value)
    case .ready(.failure(let errno)): reply.fail(errno)
    case .pending(let start):
      let parked = ParkedReply(reply)
      let cancel = start { result in
        guard let reply = parked.take() else { return }
        switch result {
        case .success(let value): respond(reply, value)
        case .failure(let errno): reply.fail(errno)
        }
      }
      parked.onInterrupt(cancel)
    }
  }

  /// What `umask` keeps from a caller.
  func isShut(to caller: FuseCaller) -> Bool { !tree.owner.lets(caller.user, ofGroup: caller.group) }

  func caller(_ caller: FuseCaller) -> Caller { Caller(user: caller.user, thread: caller.thread) }

  func fuseAttributes(_ attributes: NodeAttributes) -> FuseAttributes {
    var result = FuseAttributes(
      kind: attributes.isDirectory ? .directory : .file, inode: attributes.node.inode,
      permissions: attributes.permissions & ~tree.owner.mask, owner: tree.owner.user, group: tree.owner.group)
    result.links = attributes.links
    result.size = attributes.size
    result.blocks = attributes.blocks
    result.modified = attributes.modified
    result.changed = attributes.changed
    return result
  }

  func entry(_ attributes: NodeAttributes) -> FuseEntry {
    FuseEntry(
      node: attributes.node.rawValue, attributes: fuseAttributes(attributes),
      attributeTimeout: attributes.timeout,
      entryTimeout: attributes.isDirectory ? 3600 : max(1, attributes.timeout))
  }
}
