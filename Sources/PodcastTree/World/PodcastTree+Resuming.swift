internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What a process that takes over a mount has to see to.
extension PodcastTree {
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
