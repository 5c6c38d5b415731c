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
    return done.then { self.settle(episode, was: (parent, name), becomes: (newParent, newName)) }
  }

  package func link(_ node: NodeID, _ name: String, in parent: NodeID, for caller: Caller) -> Answer<
    NodeAttributes
  > {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    guard node.kind == .episode, let folder = folder(parent) else { return .failure(.EROFS) }
    return listed(node.row).then { episode in
      folder.take(episode, for: caller).then { self.settle(episode, was: nil, becomes: (parent, name)) }
    }.then { self.attributes(of: node) }.map { attributes in
      var attributes = attributes
      // The folder may list it under another name.
      attributes.timeout = 0
      return attributes
    }
  }

  /// Tells the kernel and watchers what the two names are really worth, where that is not what rename(2) suggests.
  private func settle(
    _ episode: ListedEpisode, was old: (folder: NodeID, name: String)?,
    becomes new: (folder: NodeID, name: String)
  ) -> Answer<Void> {
    .on(loader) {
      let shown = self.state.withLock { $0.names(of: $0.episode(episode.id) ?? episode) }.byFolder
      var names: [(NodeID, String, Difference.Event)] = []
      if let old, shown[old.folder]?[old.name] != nil { names.append((old.folder, old.name, .appeared)) }
      if shown[new.folder]?[new.name] == nil { names.append((new.folder, new.name, .vanished)) }
      self.tell(names, of: NodeID(.episode, episode.id))
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
