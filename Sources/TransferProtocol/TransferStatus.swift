package import PodcastModel

/// What is known of one download: the daemon's word, or the store's while no daemon runs.
package struct TransferStatus: Hashable, Sendable {
  package var key: MediaKey
  package var state: TransferState
  /// Which local copy of the enclosure the cached bytes belong to: a number by chance, another one for each. 0 before
  /// the first byte.
  package var generation: UInt32
  /// The exact size in bytes, once a response has told it.
  package var total: Int64?
  package var received: Int64
  /// Bytes per second and seconds left, while downloading.
  package var rate: Int64?
  package var eta: Int64?
  /// One line that a person understands: when failed, stalled, or waiting for a retry or for room.
  package var error: String?
  /// Why a reader in this process got nothing last, while nothing has come or changed since. Not told to others.
  package var readFailure: String?
  package var isKept: Bool
  /// Whether it is dropped once nobody has it open.
  package var dropsAtClose: Bool
  /// When it came to the stage at which it is, in nanoseconds since 1970: whoever hears of it late, and of several changes
  /// at once, has it by the same time.
  package var changed: Int64
  /// The place in the queue: lower comes first.
  package var order: Int64
  /// The request's facts for people.
  package var url: String
  package var title: String
  package var show: String
  package var fileName: String
  /// See `TransferRequest.isEpisode`.
  package var isEpisode: Bool

  package init(
    key: MediaKey, state: TransferState, generation: UInt32 = 0, total: Int64? = nil, received: Int64 = 0,
    rate: Int64? = nil, eta: Int64? = nil, error: String? = nil, isKept: Bool = false,
    dropsAtClose: Bool = false, changed: Int64 = 0, order: Int64 = 0, url: String = "", title: String = "",
    show: String = "", fileName: String = "", isEpisode: Bool = true
  ) {
    self.key = key
    self.state = state
    self.generation = generation
    self.total = total
    self.received = received
    self.rate = rate
    self.eta = eta
    self.error = error
    self.isKept = isKept
    self.dropsAtClose = dropsAtClose
    self.changed = changed
    self.order = order
    self.url = url
    self.title = title
    self.show = show
    self.fileName = fileName
    self.isEpisode = isEpisode
  }

  /// The bytes that count in `cache_size`.
  package var budgeted: Int64 { isEpisode ? received : 0 }

  /// Where folders show it. One that goes at its last close is shown as if it had gone.
  package var stage: DownloadStage { dropsAtClose ? .absent : state.stage }

  /// What people are told.
  package var reason: String? { error ?? readFailure }

  /// With the feed's length, where it may be one, as the size while no response has told it: what the episode's
  /// attributes say.
  package func withLength(ofFeed length: Int64?) -> TransferStatus {
    guard total == nil, let length, length >= received else { return self }
    var status = self
    status.total = length
    return status
  }
}

extension TransferStatus: BinaryValue {
  /// Sizes, times and places: such that sums of them can't overflow.
  private static let counts: ClosedRange<Int64> = 0...1 << 50

  package func encode(into bytes: inout [UInt8]) {
    bytes.put(key, state, generation, total, received, rate, eta, error, isKept, dropsAtClose, changed)
    bytes.put(order, url, title, show, fileName, isEpisode)
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = try reader.make(
      Self.init(
        key:state:generation:total:received:rate:eta:error:isKept:dropsAtClose:changed:order:url:title:
        show:fileName:isEpisode:))
    let numbers = [total, received, rate, eta, order]
    guard changed >= 0, numbers.allSatisfy({ $0.map(Self.counts.contains) ?? true }) else { throw .malformed }
  }
}
