internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What a process that takes over a mount has to see to.
extension PodcastTree {
  /// Of all episodes that the transfers know: their state, size and blocks may have changed.
  package var nodesOfTransfers: [NodeID] {
    world.withLock { world in
      world.downloads.known.values.compactMap { known in
        world.episode(known.episode.id).map { world.node(of: $0) }
      }
    }
  }

  /// All that a process before had open has been opened again: tells those who read the events what they have missed, and
  /// drops what was to be dropped when its last reader closed it, where that has happened meanwhile.
  package func endTakingOver() {
    loader.async { [self] in
      events.endTakingOver()
      world.withLock { $0.open.isTakingOver = false }
      for episode in dropMarks.all where !world.withLock({ $0.open.isOpen(episode) }) {
        guard let key = world.withLock({ $0.downloads.known.first { $0.value.episode.id == episode }?.key })
        else {
          dropMarks.remove(episode)
          continue
        }
        dropAfterClose(episode, key)
      }
    }
  }

  /// Tells those who watch what is different in directories from what they know.
  /// - Parameter known: the names that they know of one, and what these led to; nil where that is not known.
  package func tellNews(
    in directories: [NodeID], since known: @escaping @Sendable (NodeID) -> [String: NodeID]?
  ) {
    loader.async { [self] in
      var difference = Difference()
      for directory in directories {
        // Where it can't be read at this moment, it is told of when it next changes.
        guard let listing = try? listing(ofMaybeEnded: directory), let old = known(directory) else {
          continue
        }
        difference.add(Difference(in: directory, from: old, to: listing))
      }
      tell(difference)
    }
  }

  private func listing(ofMaybeEnded directory: NodeID) throws -> Listing {
    guard let folder = folder(directory) else { return Listing([]) }
    do {
      try folder.load()
      return try makeListing(folder)
    } catch let error as Errno where error == .ENOENT { return Listing([]) }
  }

  /// The last reader has closed what was to be dropped then.
  func dropAfterClose(_ episode: Int64, _ key: MediaKey) {
    transfers.drop(key) { _ in
      self.loader.async {
        self.world.withLock { _ = $0.open.dropsAtClose.remove(episode) }
        self.dropMarks.remove(episode)
        self.transferChanged(key)
      }
    }
  }
}
