package import PodcastModel
package import PosixKit
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
  /// The store has committed the rows of `save` (nil), or says why it could not.
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

/// What the engine has done, in this order.
package enum Effect: Hashable, Sendable {
  case ask(FlowID, MediaRequest)
  /// The body's first byte is the file's byte at `offset`: what is written is named by its place.
  case place(FlowID, at: Int64)
  /// Takes nothing more from its host, or goes on.
  case hold(FlowID, Bool)
  /// Ends the request, and drops what is held of it.
  case end(FlowID)
  /// Work on the files of one generation. The disk does the work of an episode in this order.
  case store(StoreID, StoreOrder)
  /// Brings what is written to the disk, then the journal; beside the other orders.
  case flush(StoreID)
  /// Takes the names of a generation's files away; who has it open keeps its bytes.
  case remove(MediaKey, generation: UInt32)
  case measureRoom
  /// Lets go of the least recently read of these that nobody has open, until `count` bytes are free; then of the next ones that
  /// hold no more than `more` bytes together.
  case evict([GenerationName], count: Int64, more: Int64)
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

/// What the disk's threads do with the files of a generation. `leaving`: bytes of the disk that must stay free.
package enum StoreOrder: Hashable, Sendable {
  case open(MediaKey, generation: UInt32)
  case create(MediaKey, generation: UInt32, Representation, leaving: Int64)
  /// Writes what is held of a response; what is held before it is dropped.
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
    (self.key, self.generation, self.size) = (key, generation, size)
  }
}

/// A number that names a thing of one kind: it is given once.
package struct Number<Kind>: Hashable, Comparable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (a: Number, b: Number) -> Bool { a.number < b.number }
}

package enum ClientKind {}
package enum FlowKind {}
package enum StoreKind {}
/// `ClientID` names a client's connection, `FlowID` one request, `StoreID` one opening of a generation's files.
package typealias ClientID = Number<ClientKind>
package typealias FlowID = Number<FlowKind>
package typealias StoreID = Number<StoreKind>

/// An open, a wait or an order of a client, by the client's own number.
package struct ClientNumber: Hashable, Sendable {
  package var client: ClientID
  package var id: UInt64
}

package struct MediaRequest: Hashable, Sendable {
  package var url: String
  /// The bytes asked for (RFC 9110 §14.2), .max behind them where that is all; nil for the whole, without Range.
  package var range: Range<Int64>?
  /// If-Range (RFC 9110 §13.1.5).
  package var validator: String?
  package var userAgent: String?
  package var allowsPrivateHosts = false
  /// Time limits, proxies and authorities.
  package var settings: TransferSettings
}

package struct ResponseHead: Hashable, Sendable {
  package var status: Int
  package var url: String
  /// The body's length as sent.
  package var length: Int64?
  /// What a 206 says that it holds (RFC 9110 §14.4); nil where that is of no use.
  package var part: Range<Int64>?
  /// The whole's size by Content-Range, of a 206 or a 416.
  package var partTotal: Int64?
  /// A strong entity tag, with its quotes.
  package var entityTag: String?
  package var lastModified: String?
  /// In lower case, without parameters.
  package var mediaType: String?
  /// In lower case; nil for none and identity.
  package var encoding: String?
  package var acceptsRanges = false
  /// Seconds.
  package var retryAfter: Int64?
  package var isDelimitedByClose = false
  /// Whether the host that answered is one that the public Internet can't mean.
  package var isFromPrivateHost = false

  package init(status: Int, url: String) { (self.status, self.url) = (status, url) }

  /// Whether the body is the whole representation: a 203 is a 200 that a proxy has changed (RFC 9110 §15.3.4).
  package var isWhole: Bool { status == 200 || status == 203 }
  var host: String { WebAddress(url).host ?? "the server" }
}

package enum BackgroundRest: Hashable, Sendable {
  /// It is not known yet what the network costs; that takes milliseconds.
  case asking
  case paused
  case metered
  /// The charge in percent below which they rest; nil for any.
  case battery(below: Int?)
  case outside(DailyHours)

  /// For people; nil where it is over before anybody reads it.
  package var message: String? {
    switch self {
    case .asking: nil
    case .paused: "all background downloads are paused"
    case .metered: "waiting for an unmetered network"
    case .battery(nil): "waiting for mains power"
    case .battery(let charge?): "waiting for mains power: the battery is below \(charge) %"
    case .outside(let hours): "waiting for \(hours.startText) (downloads run \(hours.text))"
    }
  }
}
