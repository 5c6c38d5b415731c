package import FuseKit
internal import PodcastModel
package import PodcastTree
package import PosixKit

/// A name in a directory.
struct MadeName: Hashable, Sendable {
  let name: String
  let directory: NodeID
}

/// The tree as a FUSE file system: decodes, asks the tree, answers; parks what the tree can't answer at once.
package final class MountedTree: FuseFileSystem, ViewObserver {
  let tree: PodcastTree
  let handles: HandleTable
  let numbers: KernelNumbers
  let notifier: KernelNotifier
  /// Names that the kernel is making: by mkdir(2) or rename(2).
  let makes = Monitor<Set<MadeName>>([])
  let directories: KnownDirectories
  let announcer: Announcer
  let incarnations: Incarnations

  /// - Parameters:
  ///   - mountPoint: where it will be seen.
  ///   - isShared: whether other users may look into it, whose watches this process can't see.
  ///   - memory: what the next process needs to know, and what the one before has left.
  package init(_ tree: PodcastTree, at mountPoint: String, isShared: Bool, memory: LastingMemory? = nil) {
    self.tree = tree
    let records = memory?.records ?? []
    handles = HandleTable(memory: memory, records)
    numbers = KernelNumbers(memory: memory, records)
    directories = KnownDirectories(memory: memory, records)
    incarnations = Incarnations(memory: memory, records)
    notifier = KernelNotifier(numbers)
    announcer = Announcer(
      tree: tree, numbers: numbers, notifier: notifier, mountPoint: mountPoint, isShared: isShared,
      memory: memory, records)
    tree.observe(self)
  }

  /// Says where the kernel is told what to forget.
  /// - Parameters:
  ///   - device: the mount's, as proc(5) writes it in mountinfo: "0:52".
  ///   - runtime: the directory for what the next process needs to know; nil where there will be none.
  ///   - takesOver: whether there was a process before.
  package func attach(to session: FuseSession, device: String?, runtime: String?, takesOver: Bool) {
    notifier.attach(session)
    handles.attach(to: session)
    announcer.begin(
      device: device, connection: session.connection, runtime: runtime, takesOver: takesOver)
    tree.takeUpCommits()
  }

  /// Before the mount goes: nothing is told to the kernel from here on.
  package func detach() {
    announcer.stop()
    notifier.attach(nil)
  }

  // MARK: ViewObserver

  package func changed(_ difference: Difference) {
    var difference = difference
    var ended: [NodeID: UInt64] = [:]
    let came = Set(difference.names.lazy.filter { $0.isDirectory && $0.event == .appeared }.map(\.node))
    for name in difference.names where name.isDirectory {
      // It has another name only.
      if name.event == .vanished && came.contains(name.node) { continue }
      if name.event == .vanished {
        incarnations.end(name.node)
        let number = numbers.number(name.node)
        if number != name.node.rawValue { ended[name.node] = number }
      }
      // A result that is found again needs its number, a subscription that has ended none.
      let isNew = name.node.kind == .result && name.event != .vanished
      guard isNew || name.node.kind == .subscription && name.event == .vanished,
        let other = numbers.release(name.node), isNew, let path = tree.path(of: other), let own = path.last
      else { continue }
      difference.names.append(
        Difference.Name(
          name: own, directory: .subscriptions, event: .replaced, isDirectory: true, node: other))
    }
    let makes = makes.withLock { $0 }
    if !makes.isEmpty {
      let made = difference.names.filter { name in
        name.event == .appeared && makes.contains(MadeName(name: name.name, directory: name.directory))
      }
      announcer.hasTold(made)
      if !made.isEmpty { difference.names.removeAll { made.contains($0) } }
    }
    notifier.tell(difference)
    announcer.announce(difference, ended: ended, in: directories)
  }

  package func lists(
    _ directory: NodeID, _ names: @escaping @Sendable (_ add: (String, NodeID) -> Void) -> Void
  ) {
    announcer.lists(directory, names)
  }

  package func listsNoMore(_ directory: NodeID) { announcer.listsNoMore(directory) }

  package func moved(_ node: NodeID, to other: NodeID) {
    numbers.move(node, to: other)
    // Its inode number and what it lists, too.
    notifier.forgetListing(of: other)
  }

  package func knows(_ directory: NodeID) -> Bool { directories.contains(numbers.number(directory)) }

  package func settle(except directories: Set<NodeID>, _ body: @escaping @Sendable () -> Void) {
    notifier.settle(except: directories, body)
  }

  /// What is open, parked or still to be told. Programs have directories open for as long as they like; the kernel
  /// remembers as many as it has room for.
  package var gauges: [Gauge] {
    [
      Gauge("handles", handles.count),
      // One is that of whoever asks.
      Gauge("parked replies", ParkedReply.count, limit: 1),
      Gauge("untold names", notifier.count), Gauge("unannounced names", announcer.count),
      Gauge("names being made", makes.withLock { $0.count }),
      Gauge("moved directories", numbers.count, limit: directories.count),
    ]
  }

  // MARK: Answers

  /// Answers `reply` with what `answer` gives, by `respond`.
  func fulfil<Value: Sendable>(
    _ reply: consuming FuseReply, _ answer: Answer<Value>,
    _ respond: @escaping @Sendable (consuming FuseReply, Value) -> Void,
    failing: @escaping @Sendable (consuming FuseReply, Errno) -> Void = { reply, errno in reply.fail(errno) }
  ) {
    switch answer {
    case .ready(.success(let value)): respond(reply, value)
    case .ready(.failure(let errno)): failing(reply, errno)
    case .pending(let start):
      let parked = ParkedReply(reply)
      let cancel = start { result in
        guard let reply = parked.take() else { return }
        switch result {
        case .success(let value): respond(reply, value)
        case .failure(let errno): failing(reply, errno)
        }
      }
      parked.onInterrupt(cancel)
    }
  }

  /// What `umask` keeps from a caller.
  func isShut(to caller: FuseCaller) -> Bool { !tree.owner.lets(caller.user, ofGroup: caller.group) }

  func caller(_ caller: FuseCaller, sniffs: Bool = false) -> Caller {
    Caller(user: caller.user, thread: caller.thread, sniffs: sniffs)
  }

  func fuseAttributes(_ attributes: NodeAttributes) -> FuseAttributes {
    var result = FuseAttributes(
      kind: attributes.isDirectory ? .directory : .file, inode: attributes.node.inode,
      permissions: attributes.permissions & ~tree.owner.mask, owner: tree.owner.user, group: tree.owner.group)
    result.links = attributes.links
    result.size = attributes.size
    result.blocks = attributes.blocks
    result.modified = (attributes.modified.seconds, attributes.modified.nanoseconds)
    result.changed = (attributes.changed.seconds, attributes.changed.nanoseconds)
    return result
  }

  /// An entry that is given to the kernel: it remembers the node until it forgets it.
  func entry(_ attributes: NodeAttributes) -> FuseEntry {
    entry(attributes, number: numbers.number(attributes.node))
  }

  /// - Parameter number: the kernel's for the node.
  func entry(_ attributes: NodeAttributes, number: UInt64) -> FuseEntry {
    if attributes.isDirectory { directories.note(number) }
    var entry = FuseEntry(
      node: number, attributes: fuseAttributes(attributes),
      attributeTimeout: attributes.timeout,
      entryTimeout: attributes.entryTimeout)
    entry.generation = incarnations[attributes.node]
    return entry
  }
}
