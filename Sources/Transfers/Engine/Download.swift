internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

/// One download as the engine works on it. Belongs to the engine's loop.
final class Download {
  var record: TransferRecord
  /// The current generation's writer, while anybody needs it.
  var writer: EpisodeWriter?
  var flows: [(flow: Flow, task: HTTPTask)] = []
  var handles: [ReaderHandle] = []

  /// Whether the cache was looked at for a generation that the record does not know.
  var hasLookedForStray = false
  /// Whether it may run as one of the background downloads.
  var hasSlot = false
  /// Whether the server gives ranges that can be trusted; false once it has shown that it does not.
  var givesRanges = true
  /// Whether a request beside the responses under way was refused: they are waited for. Holds until they end.
  var refusesBeside = false
  /// Requests in a row that brought nothing, one at once after the other; what had come by the last one, of which
  /// generation, and what it asked for.
  var fruitlessAsks = 0
  var lastAsk: (received: Int64, generation: UInt32, size: Int64) = (0, 0, 0)
  /// Parts that began elsewhere than was asked for.
  var strayParts = 0
  /// Whether the next request must overlap with what is stored, because the final address has changed.
  var needsOverlap = false
  /// Whether the next request is for the whole of a new generation, whatever is stored.
  var beginsAnew = false
  /// Whether the server compresses whatever is asked for, so that leave is given and the bytes come decoded.
  var decodes = false
  /// Whether a response of this run has told that there is no length.
  var hasNoLength = false
  /// Whether the end of the connection is the body's; and where one ended sooner than the feed says.
  var endsByClose = false
  var earlyEnd: Int64?
  /// Whether a response under way has shown that the generation is what the server has.
  var isConfirmed = false
  /// When the final address last answered.
  var addressAnswered: MonotonicTime?
  /// Whether the address that answered before has stopped to.
  var isDirectRefused = false

  /// Where an MP4's index is, behind its audio: players ask for it first.
  var indexRange: Range<Int64>?

  /// Generations begun since it was wanted.
  var generationsBegun = 0
  /// Tries in a row that brought nothing.
  var attempts = 0
  /// When to try again; nil for at once.
  var retryAt: MonotonicTime?
  var retryTimer: EventLoop.Timer?
  var lastFault: MonotonicTime?
  /// Until when the server wants to be left alone (its Retry-After).
  var forbiddenUntil: MonotonicTime?
  var receivedAtFault: Int64 = 0
  /// Where the address stands: one fresh one is asked for.
  var hasAskedForAddress = false
  /// The address that has expired, while a fresh one is looked for.
  var askedAddress: String?

  /// The latest reader's place.
  var focus: Int64 = 0
  /// For the rate: bytes and time of the last tick.
  var meter = RateMeter()
  /// Until when what is stored is not tried to be opened again, after that has failed.
  var storeRefusedUntil: MonotonicTime?
  /// Whether its bytes must go to the disk now, and whether they are on the way there before the writer ends.
  var needsSynchronization = false
  var isReleasing = false
  /// Whether the disk has refused them.
  var isReleaseRefused = false
  /// Whether observers are to hear of its progress.
  var isProgressDue = false
  /// The bytes that `DownloadTable` has counted for it while it is at rest.
  var restingBytes: Int64 = 0
  /// What observers and the store have been told.
  var published: TransferStatus?
  var saved: TransferRecord?

  /// - Parameter record: what is remembered: the one place where the wall clock is believed, which may have
  ///   been set since.
  init(record: TransferRecord) {
    self.record = record
    let now = wallClockSeconds()
    let wait = record.forbiddenSeconds(now: now)
    if wait > 0 { forbiddenUntil = .after(Double(wait)) }
    if let failed = record.failed, failed <= now { lastFault = .now.adding(-Double(min(now - failed, 3600))) }
  }

  var key: MediaKey { record.key }

  /// Whether all of it is to come.
  var isWanted: Bool { record.state == .queued || record.state == .downloading }

  /// Whether there are bytes that can't be got at: nothing may take their place.
  var isStoreRefused: Bool { storeRefusedUntil.map { $0 > .now } ?? false }

  var isAskingForAddress: Bool { askedAddress != nil }

  /// Whether there is something to do for it.
  var isBusy: Bool {
    record.isUnfinished || !flows.isEmpty || !handles.isEmpty || writer != nil || isAskingForAddress
  }

  /// Whether a reader has it open that makes it come, beside the queue.
  var isOpenForDownload: Bool { handles.contains { $0.isCurrent(record.generation) && $0.mayDownload } }

  var status: TransferStatus {
    var status = record.status
    if let writer { status.received = writer.received }
    if record.state == .downloading {
      status.rate = meter.rate
      if let rate = meter.rate, rate > 0, let total = record.total {
        status.eta = max(0, (total - status.received + rate - 1) / rate)
      }
    }
    return status
  }

  /// Whether the server wants to be left alone.
  var isForbidden: Bool { forbiddenUntil.map { $0 > .now } ?? false }

  /// Whether a request may begin anywhere, beside a response under way too.
  var canSeek: Bool {
    let isValidated = writer.map { $0.representation.validator != nil } ?? true
    return givesRanges && !needsOverlap && !beginsAnew && isValidated && !hasNoLength
      && !(refusesBeside && !flows.isEmpty)
  }

  /// Whether a response goes on though nobody waits for what it brings next: who has the episode open without
  /// downloading it would have to ask for all of it again.
  var readsThrough: Bool {
    !canSeek && handles.contains { $0.intent == .fetchOnly && $0.isCurrent(record.generation) }
  }

  /// Whether the final address may be asked without the redirects before it: they often expire.
  var isAddressFresh: Bool { addressAnswered.map { MonotonicTime.now < $0.adding(300) } ?? false }

  /// The host whose downloads are counted.
  var host: String { PublicURL.host(record.request.url) ?? "" }
}
