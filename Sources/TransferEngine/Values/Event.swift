package import PodcastModel
package import TransferProtocol

package enum Event: Sendable {
  /// A client has greeted; again where it can tell fresh addresses from now on.
  case joined(ClientID, answersAddresses: Bool)
  case left(ClientID)
  case said(ClientID, ClientMessage)

  /// A response's head, and the first bytes of its body where they help to judge it; `came` counts them too.
  case head(FlowID, ResponseHead, firstBytes: [UInt8])
  /// So many bytes more of its body are held for the engine.
  case came(FlowID, Int)
  /// Its end: nil where the whole body came. `head` where nothing told it before, because it has no body.
  case ended(FlowID, Fault?)

  case disk(StoreID, DiskAnswer)
  /// Records are on the disk; or why not.
  case saved(TransferFailure?)
  /// The names of a generation's files have been taken away, or why not.
  case removed(MediaKey, TransferFailure? = nil)
  /// Bytes that the disk still has for this user; nil where that can't be learnt.
  case room(Int64?)
  /// The generations that `evict` has removed.
  case evicted([GenerationName])
  /// Files of the cache that the store does not know, and some that it knows and that have gone.
  case found([FoundFile], missing: [GenerationName] = [])
  case networkChanged
  /// Downloads that nobody has open rest from now on, or (nil) may run.
  case background(BackgroundRest?)
  /// The time that `wake` named has come, or has not.
  case timer
}

/// What the disk answers about the files of a generation, in the order that it was asked.
package enum DiskAnswer: Hashable, Sendable {
  case opened(Representation, present: ByteRanges)
  /// There is no data file, or none that says what it is of. Of a flush: it has no name any more.
  case missing
  case created
  case wrote(FlowID, Range<Int64>)
  /// Of what was compared, so many bytes are the same from its start on.
  case compared(FlowID, Range<Int64>, agreed: Int64)
  case described
  case flushed
  /// A flush failed: only this is known to be there.
  case notFlushed(Fault, present: ByteRanges)
  /// Any other order failed: this is there.
  case failed(Fault, present: ByteRanges)
}
