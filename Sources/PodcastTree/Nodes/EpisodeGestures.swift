internal import PosixKit

/// rename(2) and link(2) of an episode to a folder: an order, as setfattr(1) gives it. The episode stays listed where it
/// was, and the folder lists it under the name that it has there.
extension PodcastTree {
  func move(
    _ episode: ListedEpisode, _ name: String, in parent: NodeID, to newName: String, in newParent: NodeID,
    for caller: Caller
  ) -> Answer<Void> {
    guard let folder = folder(newParent) else { return .failure(.ENOTDIR) }
    let done =
      parent == newParent
      ? folder.reorder(episode, to: newName)
      : folder.take(episode, for: caller).recover { .failure($0 == .EROFS ? .EPERM : $0) }
    return done.then { self.settle(episode, was: (parent, name), becomes: (newParent, newName), for: caller) }
  }

  package func link(_ node: NodeID, _ name: String, in parent: NodeID, for caller: Caller) -> Answer<
    NodeAttributes
  > {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    guard node.kind == .episode, let folder = folder(parent) else { return .failure(.EROFS) }
    return listed(node.row).then { episode in
      folder.take(episode, for: caller).then {
        self.settle(episode, was: nil, becomes: (parent, name), for: caller)
      }
    }.then { self.passingAttributes(of: node) }
  }

  /// Tells the kernel and watchers what the two names are really worth, where that is not what rename(2) suggests.
  private func settle(
    _ episode: ListedEpisode, was old: (folder: NodeID, name: String)?,
    becomes new: (folder: NodeID, name: String), for caller: Caller
  ) -> Answer<Void> {
    .on(loader) {
      let node = NodeID(.episode, episode.id)
      let shown = self.state.withLock { $0.names(of: $0.episode(episode.id) ?? episode) }.byFolder
      var names: [(NodeID, String, Difference.Event)] = []
      if let old, shown[old.folder]?[old.name] != nil { names.append((old.folder, old.name, .appeared)) }
      if shown[new.folder]?[new.name] == nil {
        self.givenNames.withLock { $0.add(new.name, of: node, in: new.folder, by: caller) }
        names.append((new.folder, new.name, .vanished))
      }
      self.tell(names, of: node)
    }
  }

  /// What a name stands for that no folder lists, but that the caller has just given.
  func given(_ name: String, in folder: NodeID, by caller: Caller) -> Answer<NodeAttributes> {
    guard let node = givenNames.withLock({ $0.node(name, in: folder, by: caller) }) else {
      return .failure(.ENOENT)
    }
    return passingAttributes(of: node)
  }

  /// For a name that the kernel may not keep: the folder lists the episode under another one.
  private func passingAttributes(of node: NodeID) -> Answer<NodeAttributes> {
    attributes(of: node).map { attributes in
      var attributes = attributes
      attributes.timeout = 0
      return attributes
    }
  }

  /// After rename(2) the kernel has a name in the new folder that may be wrong, and has dropped a name that the old folder
  /// still has. Makes the kernel look up such names again.
  func tell(_ names: [(folder: NodeID, name: String, event: Difference.Event)], of node: NodeID) {
    var difference = Difference()
    difference.names = names.map {
      Difference.Name(
        name: $0.name, directory: $0.folder, event: $0.event, node: node)
    }
    difference.listings = names.map(\.folder)
    tell(difference)
  }
}

/// The last name that each thread has given to an episode, where the folder lists the episode under another one. mv(1) of
/// several files inspects each new name after its rename(2), and fails where it does not find it.
struct GivenNames: Sendable {
  private struct Given {
    let name: String
    let folder: NodeID
    let node: NodeID
    let end = MonotonicTime.after(NodeAttributes.lifetime)
  }
  private var names: [Int32: Given] = [:]

  mutating func add(_ name: String, of node: NodeID, in folder: NodeID, by caller: Caller) {
    let now = MonotonicTime.now
    names = names.filter { $0.value.end > now }
    names[caller.thread] = Given(name: name, folder: folder, node: node)
  }

  func node(_ name: String, in folder: NodeID, by caller: Caller) -> NodeID? {
    names[caller.thread].flatMap { given in
      given.name == name && given.folder == folder && given.end > .now ? given.node : nil
    }
  }
}
