package import PodcastModel
package import TransferProtocol

/// What the engine has done, in this order.
package enum Effect: Hashable, Sendable {
  case ask(FlowID, MediaRequest)
  /// The body's first byte is the file's byte at `offset`: what is written is named by its place.
  case place(FlowID, at: Int64)
  /// Takes nothing more from its host, or goes on.
  case hold(FlowID, Bool)
  /// Ends the request, and drops what is held of it.
  case end(FlowID)

  /// One of the files of an episode; orders for one store are done in order, and so are all of an episode.
  case store(StoreID, StoreOrder)
  /// Brings what is written to the disk, then the journal; beside the other orders.
  case flush(StoreID)

  /// Takes the names of a generation's files away; who has it open keeps its bytes.
  case remove(MediaKey, generation: UInt32)
  case measureRoom
  /// Lets go of the least recently read of these that nobody has open, until `count` bytes are free.
  case evict([GenerationName], count: Int64)
  case listFiles

  /// One transaction; the next follows its `saved`.
  case save([TransferStatus], removing: [MediaKey])
  case saveSettings(TransferSettings)
  case send(ClientID, DaemonMessage)
  case tell([MediaKey])
  case log(String)
  /// To be told the time then; replaces what was asked before.
  case wake(Instant)
  case idle(Bool)
}

package enum StoreOrder: Hashable, Sendable {
  case open(MediaKey, generation: UInt32)
  /// Makes the files of a new generation, where its beginning leaves so many bytes of the disk.
  case create(MediaKey, generation: UInt32, Representation, leaving: Int64)
  /// Writes what is held of a response, where that leaves so many bytes of the disk; what is held before it is dropped.
  case write(FlowID, Range<Int64>, leaving: Int64)
  case compare(FlowID, Range<Int64>)
  /// More is known of the representation.
  case describe(Representation)
  /// - Parameter isComplete: whether the journal tells it all, without the live map.
  case close(isComplete: Bool)
}

/// A generation, and how many bytes of it are here where that counts.
package struct GenerationName: Hashable, Sendable {
  package var key: MediaKey
  package var generation: UInt32
  package var size: Int64

  package init(key: MediaKey, generation: UInt32, size: Int64 = 0) {
    self.key = key
    self.generation = generation
    self.size = size
  }
}
