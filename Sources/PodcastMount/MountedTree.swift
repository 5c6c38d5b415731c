package import FuseKit
package import MountHandover
package import PodcastTree
internal import PosixKit

/// The tree as a FUSE file system: decodes, asks the tree, answers; parks what the tree can't answer at once.
package final class MountedTree: FuseFileSystem, ViewObserver {
  let tree: PodcastTree
  let handles: HandleTable
  let numbers = KernelNumbers()
  let inFlight = InFlightOperations()
  let kernel: KernelCache
  let emitter: InotifyEmitter

  /// - Parameters:
  ///   - mountPoint: where it will be seen.
  ///   - isShared: whether other users may look into it. This process cannot see their watches.
  ///   - memory: records for the next process, and those of the one before.
  package init(_ tree: PodcastTree, at mountPoint: String, isShared: Bool, memory: HandoverMemory? = nil) {
    self.tree = tree
    handles = HandleTable(memory: memory)
    kernel = KernelCache(inFlight)
    emitter = InotifyEmitter(
      tree: tree, kernel: kernel, inFlight: inFlight, mountPoint: mountPoint, isShared: isShared)
    tree.observe(self)
  }

  /// - Parameter device: the mount's, as the kernel numbers it.
  package func attach(to session: FuseSession, device: UInt64?) {
    kernel.attach(session)
    emitter.begin(device: device, connection: session.connection)
  }

  /// Before the mount ends: no more notifications to the kernel.
  package func detach() {
    emitter.stop()
    kernel.attach(nil)
  }

  package func changed(_ difference: Difference) {
    let folders = difference.names.filter(\.isDirectory)
    let went = Set(folders.lazy.filter { $0.event == .vanished }.map(\.node))
    for name in folders where name.event != .vanished {
      if name.node.kind == .result {
        numbers.restore(name.node)
        // rename(2) has moved it in the kernel, but not in the tree.
        if name.event == .replaced { numbers.renew(name.node) }
      }
      // It has not merely another name.
      if name.event == .appeared, name.node.kind == .downloadedPodcast, !went.contains(name.node) {
        numbers.renew(name.node)
      }
    }
    kernel.send(difference)
    emitter.announce(difference)
  }

  package func moved(_ node: NodeID, to other: NodeID) {
    numbers.move(node, to: other)
    // Its inode number and what it lists, too.
    kernel.forgetListing(of: other)
    kernel.forgetAttributes(of: other.rawValue)
  }

  /// What is open, parked or still to be announced. Programs have directories open for as long as they like.
  package var gauges: [Gauge] {
    [
      Gauge("handles", handles.count),
      // The request for these counts is one.
      Gauge("parked replies", ParkedReply.count, limit: 1),
      Gauge("unannounced names", emitter.count), Gauge("held folders", inFlight.count),
    ]
  }

  /// Answers `reply` with what `answer` gives, by `respond`.
  /// - Parameter isCall: whether a program's system call waits, and not the kernel that fills its pages.
  func fulfil<Value: Sendable>(
    _ reply: consuming FuseReply, _ answer: Answer<Value>, isCall: Bool = true,
    _ respond: @escaping @Sendable (consuming FuseReply, Value) -> Void,
    failing: @escaping @Sendable (consuming FuseReply, Errno) -> Void = { reply, errno in reply.fail(errno) }
  ) {
    switch answer {
    case .ready(.success(let value)): respond(reply, value)
    case .ready(.failure(let errno)): failing(reply, errno)
    case .pending(let start):
      let parked = ParkedReply(reply)
      let cancellation = Cancellation()
      start(cancellation) { result in
        guard let reply = parked.take() else { return }
        switch result {
        case .success(let value): respond(reply, value)
        case .failure(let errno): failing(reply, errno)
        }
      }
      parked.onInterrupt { cancellation.cancel() }
      if !isCall { parked.watchSignals() }
    }
  }

  func isShut(to call: FuseCall) -> Bool { !tree.owner.lets(call.user, ofGroup: call.group) }

  func caller(_ call: FuseCall, sniffs: Bool = false) -> Caller {
    Caller(user: call.user, thread: call.thread, sniffs: sniffs)
  }

  /// What is given to the kernel, which remembers an entry's node until it forgets it.
  /// - Parameter number: the kernel's for the node; nil for the usual one.
  func entry(_ attributes: NodeAttributes, number: UInt64? = nil) -> FuseEntry {
    let (node, owner, modified) = (attributes.node, tree.owner, attributes.modified)
    return FuseEntry(
      node: number ?? node.rawValue, generation: numbers.generation(of: node), timeout: attributes.timeout,
      isDirectory: node.isDirectory, inode: node.inode, permissions: attributes.permissions & ~owner.mask,
      links: attributes.links, owner: owner.user, group: owner.group, size: attributes.size,
      blocks: attributes.blocks, modified: (modified.seconds, modified.nanoseconds))
  }
}
