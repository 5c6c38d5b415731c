internal import PodcastModel
internal import TransferProtocol

/// One download as the engine works on it.
final class Download {
  var record: TransferRecord
  /// The current generation's files, while anybody needs them.
  var store: Store?
  /// In the order in which they were asked for.
  var flows: [Flow] = []
  /// What was asked for beside the first response, until that has told of what it is.
  var tail: Flow?
  var handles: [ReaderHandle] = []

  /// Whether the cache has files of it; nil where that is not known: it may have some that the record does not know
  /// of, begun just before the daemon was killed, and readers have seen them.
  var hasFiles: Bool?
  /// The generation whose bytes were let go of last, and what it was of.
  var former: (generation: UInt32, representation: Representation)?
  /// What was dropped last, in case its files can't be removed.
  var dropped: (generation: UInt32, received: Int64, isCached: Bool)?
  /// The client whose readers have asked for it, and whether somebody else has, too, or has ordered or paused it.
  var asker: ClientID?
  var isAskedForByOthers = false
  /// Whether it may run as one of the background downloads.
  var hasSlot = false
  /// Whether it has lost its slot because it brought next to nothing, and has brought no more since.
  var crawls = false
  /// Whether the store must be looked at: its bytes may be gone, or more than the record says.
  var mustLook = false
  /// Whether it has been looked at, so that the record says how much is here.
  var hasBeenOpened = false
  /// Whether it is of a daemon before this one, and its files have not been looked for: they may have just been begun.
  var isUnseen = false
  /// The latest generation that the cache was found to have, while one before it was being opened.
  var foundGeneration: UInt32 = 0
  /// What the current generation's journal has been told of the record by this daemon.
  var noted: TransferRecord?
  /// Bytes of the current generation that are not what was written, until the disk has been told.
  var damaged: [Range<Int64>] = []
  /// Whether readers may still get some of these.
  var isDiscarding: Bool { !damaged.isEmpty || store?.discards ?? 0 > 0 }
  /// Whether its podcast was forgotten: the store is told nothing of it any more, and its line goes as soon as it holds
  /// nothing.
  var isToBeForgotten = false
  /// Whether it is to come again where that shows that it is gone.
  var isWantedAgain = false
  /// Whether it was held by the user when its last byte turned out to be here.
  var wasPaused = false
  /// Whether all that was ordered has come, and its last bytes are not known to be on the disk.
  var isOnItsWayToTheDisk = false
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
  /// Where the whole has ended before the length that it had told, and how often in a row.
  var shortEnd: (position: Int64, count: Int)?
  /// Whether a response under way has shown that the generation is what the server has.
  var isConfirmed = false
  /// When the final address last answered.
  var addressAnswered: Instant?
  /// Whether the address that answered before has stopped to.
  var isDirectRefused = false
  /// The host that sends it, once one has.
  var sender: String?
  /// Whether that is one that the public Internet can't mean.
  var isSenderPrivate = false

  /// Where an MP4's index is, behind its audio: players ask for it first.
  var indexRange: Range<Int64>?

  /// Generations begun since it was wanted.
  var generationsBegun = 0
  var backoff: Backoff
  /// When to try again; nil for at once.
  var retryAt: Instant?
  var lastFault: Instant?
  /// Until when the server wants to be left alone (its Retry-After).
  var forbiddenUntil: Instant?
  var receivedAtFault: Int64 = 0
  /// What readers get who have nothing of the episode, and since when; nil where they wait.
  var refusal: (failure: TransferFailure, at: Instant)?
  /// The network in which a doubtful failure was last counted.
  var doubtedNetwork: Int64 = 0
  /// Where the address stands: one fresh one is asked for.
  var hasAskedForAddress = false
  /// The address that has expired, while a fresh one is looked for.
  var askedAddress: String?
  /// Until when an answer is waited for.
  var addressDeadline = Instant.distantFuture

  /// Since when responses that nobody waits for are held back for those that somebody does; and until when none is again.
  var precedence: (since: Instant?, until: Instant?) = (nil, nil)
  /// The latest reader's place.
  var focus: Int64 = 0
  /// For the rate: bytes and time of the last tick.
  var meter = RateMeter()
  /// Until when what is stored is not tried to be opened again, after that has failed.
  var storeRefusedUntil: Instant?
  /// Whether the disk has refused to take its last bytes: not asked again before something has happened to it; and
  /// whether that was for want of room.
  var isFlushRefused = false
  var waitsToFlush = false
  /// Whether it was refused room for a piece, and has had none since.
  var isStarved = false
  /// Until when it does not ask for room again, and how often it has found none in a row.
  var healAt: Instant?
  var roomBackoff = Backoff()
  /// Until when it is not asked to go, because somebody else had it open when it last was, and how often it was in a row.
  var heldElsewhereUntil: Instant?
  private var heldElsewhere = Backoff()
  /// Whether observers are to hear of its progress.
  var isProgressDue = false
  /// Why it waits, as the log has it already.
  var loggedWait: String?
  /// What `DownloadTable` knows of it: the bytes that it has counted, and where it waits.
  var notedBytes: Int64 = 0
  var place: WaitingLine.Place?
  /// What observers and the store have been told.
  var published: TransferStatus?
  var saved: TransferRecord?
  /// See `TransferStatus.moment`; 0 where its stage is the same since this daemon began.
  var moment: Int64 = 0
  /// Whether the store could not be written when it was told.
  var isUnsaved = false
  /// The orders that `record.revision` is of, and whether bytes have gone since.
  var numbered: Int
  var hasLetGo = false

  /// - Parameter record: what is remembered: the one place where the wall clock is believed, which may have
  ///   been set since.
  init(record: TransferRecord, now: Moment) {
    self.record = record
    isToBeForgotten = record.isForgotten
    numbered = record.noteHash
    backoff = Backoff(attempts: Int(clamping: record.attempts))
    let wait = record.forbiddenSeconds(now: now.wall)
    if wait > 0 { forbiddenUntil = now.instant.adding(Double(wait)) }
    if let failed = record.failed, failed <= now.wall {
      lastFault = now.instant.adding(-Double(min(now.wall - failed, 3600)))
      if backoff.attempts > 0 {
        let left = Backoff.delay(after: backoff.attempts) - Double(min(now.wall - failed, 3600))
        if left > 0 { retryAt = now.instant.adding(left) }
      }
    }
    if let forbiddenUntil { retryAt = max(retryAt ?? forbiddenUntil, forbiddenUntil) }
  }

  var key: MediaKey { record.key }

  /// Bytes in the cache.
  var received: Int64 { openStore?.received ?? record.received }

  /// What is stored, where that can be got at.
  var openStore: Store? { store.flatMap { $0.isOpen ? $0 : nil } }

  /// Whether all of it is to come.
  var isWanted: Bool { record.state == .queued || record.state == .downloading }

  /// Whether it may run by now: as one that the queue lets, or for a reader.
  var isRunnable: Bool { isWanted && (hasSlot || isOpenForDownload) }

  var isAskingForAddress: Bool { askedAddress != nil }

  /// Whether there is something to do for it.
  var isBusy: Bool {
    record.isUnfinished || !flows.isEmpty || !handles.isEmpty || store != nil || isAskingForAddress
      || mustLook
  }

  /// Whether a reader has it open that makes it come, beside the queue.
  var isOpenForDownload: Bool { handles.contains { $0.isCurrent(record.generation) && $0.mayDownload } }

  /// Whether only the queue wants it.
  var isBackground: Bool { isWanted && !isOpenForDownload }

  /// Whether readers of what is stored keep it, whoever has deleted it.
  var isHeldByReaders: Bool {
    guard let store else { return false }
    return handles.contains { $0.generation == store.generation } && !handles.contains { $0.isOpening }
  }

  /// Seconds: a rate that would take longer says nothing of the end.
  private static let longestGuess: Int64 = 86_400

  var status: TransferStatus {
    var status = record.status
    status.received = received
    status.moment = moment
    if record.state == .downloading {
      status.rate = meter.rate
      if let rate = meter.rate, rate > 0, let total = record.total {
        let seconds = max(0, (total - status.received + rate - 1) / rate)
        if seconds <= Self.longestGuess { status.eta = seconds }
      }
      if let seconds = meter.stalled { status.error = "stalled for \(seconds) s" }
    }
    return status
  }

  /// Whether a request may begin anywhere, beside a response under way too.
  var canSeek: Bool {
    let isValidated = openStore.map { $0.representation.validator != nil } ?? true
    return givesRanges && !needsOverlap && !beginsAnew && isValidated && !hasNoLength
      && !(refusesBeside && !flows.isEmpty)
  }

  /// Whether a response goes on though nobody waits for what it brings next: who has the episode open without
  /// downloading it would have to ask for all of it again.
  var readsThrough: Bool {
    record.state != .failed && record.state != .paused && !canSeek
      && handles.contains { $0.intent == .fetchOnly && $0.isCurrent(record.generation) }
  }

  /// The host that is asked.
  var host: String {
    let url = record.request.url
    if let known = knownHost, known.url == url { return known.host }
    let host = WebAddress(record.request.url).host ?? ""
    knownHost = (url, host)
    return host
  }
  /// Asked for at each event, for thousands that wait.
  private var knownHost: (url: String, host: String)?

  /// What readers wait for that may be fetched for them; who has waited longest comes first.
  var fetchableWaits: [Range<Int64>] {
    if record.state == .failed || record.state == .paused { return [] }
    return handles.filter { $0.intent != .cachedOnly && $0.isCurrent(record.generation) }
      .flatMap(\.waits.values).sorted { $0.number < $1.number }.map(\.range)
  }

  /// Bytes to come, as far as the server has told.
  var missing: Int64 { max((record.total ?? 0) - received, 0) }

  /// Bytes to come that are not on their way to the disk, in whole blocks: what it still needs of the disk.
  var unclaimed: Int64 {
    guard let total = record.total else { return 0 }
    guard let store = openStore else { return FreeSpace.cost(of: 0..<max(total - received, 0)) }
    return store.claimed.missing(in: 0..<total).reduce(0) { $0 + FreeSpace.cost(of: $1) }
  }

  /// It was to go, and somebody else has it open.
  func isHeldElsewhere(at now: Instant) {
    heldElsewhereUntil = now.adding(heldElsewhere.failed(hasProgress: false, isWaitedFor: false))
  }

  /// Bytes to come, by the feed's word where the server has not told. Feeds say anything: nothing waits for what
  /// they say beyond `limit` or any episode.
  func expected(atMost limit: Int64) -> Int64 {
    guard record.total == nil, let length = record.request.expectedLength,
      length <= min(Limits.largestFile, limit)
    else { return missing }
    return max(length - received, 0)
  }

  /// Whether it waits for room, in the budget or on the disk.
  var waitsForRoom: Bool {
    record.waitsForRoom || record.state == .queued && record.error == Engine.cacheIsFull
  }

  /// Never one that is open, kept, or not yet complete and wanted, nor what the user paused.
  var isEvictable: Bool {
    (record.state == .cached || record.state == .remote) && received > 0 && !record.isKept && handles.isEmpty
      && flows.isEmpty && record.generation > 0 && store?.isOpen != false && store?.pending ?? 0 == 0
  }

  /// Whether nothing is lost where it is forgotten.
  var isForgettable: Bool {
    record.state == .remote && received == 0 && !record.isKept && record.error == nil && !isBusy
      && !isUnsaved
  }
}
