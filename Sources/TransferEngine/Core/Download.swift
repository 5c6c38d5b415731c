internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum Demand: Hashable {
  case none
  /// A client's readers alone, who may withdraw it; nil where it was ordered or several clients want it.
  case wanted(by: ClientID?)
  case paused, failed
}

enum Content: Hashable {
  case nothing, part, whole
}

enum RangePolicy: Hashable {
  case trusted
  /// A part that overlaps with stored bytes, because nothing else tells two representations apart.
  case overlap
  /// The whole, because the host gives no ranges that can be trusted.
  case whole
}

enum Slot: Hashable {
  case none, granted
  /// It is its turn, and the cache has no room for it.
  case cacheFull
  case resting(BackgroundRest)

  var message: String? {
    switch self {
    case .none, .granted: nil
    case .cacheFull: TransferCore.cacheIsFull
    case .resting(let rest): rest.message
    }
  }
}

enum AddressSearch: Hashable {
  case none
  case asked(old: String, until: Instant)
  /// The mounts have been asked since the download was last wanted.
  case done
}

struct Download: Hashable {
  struct Source: Hashable {
    /// The host that the feed names, and whether the one that answered is one that the public Internet cannot mean.
    var named = ""
    var isPrivate = false
    /// When the final address last answered; nil where it is not to be asked directly.
    var answered: Instant?
    /// Where its body ended too early last, and how often in a row.
    var earlyEnd: [Int64: Int] = [:]

    init(_ url: String) { named = WebAddress(url).host ?? "" }
  }

  struct Told: Hashable {
    var status: TransferStatus?
    var row: TransferStatus?
    var isProgressDue = false
  }

  var record: TransferStatus
  var demand: Demand
  var content: Content
  var files: OpenFiles?
  var fetches: [Fetch] = []
  var readers: [Reader] = []
  var slot = Slot.none
  var ranges = RangePolicy.trusted
  var source: Source
  var retry: Retry
  var search = AddressSearch.none
  var told = Told()
  /// Until when readers may come back whose client has died, or who were told by an earlier daemon.
  var awaitsReaders: Instant?
  var focus: Int64 = 0
  var meter = RateMeter()
  /// Whether the files must be opened to learn how much is here.
  var mustLook = false
  /// Whether the next request is for the whole of a new generation, whatever is stored.
  var beginsAnew = false
  /// Whether a request beside the fetches under way was refused. Holds until they end.
  var refusesBeside = false
  var isDirty = true

  /// Seconds in which a client comes back: the mount's next process opens what was open.
  static let patience = 10.0
  /// Seconds: a rate that would take longer says nothing of the end.
  private static let longestGuess: Int64 = 86_400

  /// - Parameter record: what is remembered. The wall clock is believed here alone: it may have been set since.
  init(_ record: TransferStatus, isStored: Bool, now: Moment) {
    self.record = record
    (demand, content) =
      switch record.state {
      case .remote: (.none, record.received > 0 ? .part : .nothing)
      case .cached: (.none, .whole)
      case .queued, .downloading: (.wanted(by: nil), .part)
      case .paused: (.paused, .part)
      case .failed: (.failed, .part)
      }
    if record.generation == 0 && content == .part { content = .nothing }
    retry = Retry(record, now: now)
    source = Source(record.request.url)
    if isStored {
      (told.row, told.status) = (record, record)
      if record.dropsAtClose { awaitsReaders = now.instant.adding(Self.patience) }
    }
  }

  var key: MediaKey { record.key }
  var received: Int64 { openFiles?.received ?? record.received }
  /// The bytes that count in `cache_size`.
  var budgeted: Int64 { record.request.isEpisode ? received : 0 }
  var openFiles: OpenFiles? { files.flatMap { $0.isOpen ? $0 : nil } }
  var state: TransferState { state(isWhole: content == .whole) }

  private func state(isWhole: Bool) -> TransferState {
    if isWhole { return .cached }
    return switch demand {
    case .none: .remote
    case .wanted: fetches.isEmpty ? .queued : .downloading
    case .paused: .paused
    case .failed: .failed
    }
  }

  var isWanted: Bool { if case .wanted = demand { content != .whole } else { false } }
  /// Those that do not read what came before.
  var currentReaders: [Reader] { readers.filter { $0.generation ?? record.generation == record.generation } }
  /// Whether a reader has it open that makes it come, beside the queue.
  var isOpenForDownload: Bool { currentReaders.contains(where: \.mayDownload) }
  var isRunnable: Bool { isWanted && (slot == .granted || isOpenForDownload) }
  /// Whether only the queue wants it. What goes at its last close comes for its readers alone.
  var isBackground: Bool { isWanted && !isOpenForDownload && !record.dropsAtClose }
  var isSearching: Bool { if case .asked = search { true } else { false } }

  var isBusy: Bool {
    isWanted || !fetches.isEmpty || !readers.isEmpty || files != nil || isSearching || mustLook
      || retry.until != nil || retry.filesUntil != nil || record.dropsAtClose
  }

  /// Whether readers of what was deleted keep it until they close it.
  var isHeldByReaders: Bool {
    guard let files else { return false }
    return readers.contains { $0.generation == files.generation } && !readers.contains(where: \.isOpening)
  }

  func isHeldOpen(at now: Instant) -> Bool { !readers.isEmpty || awaitsReaders.map { $0 > now } ?? false }
  var hasNoLength: Bool { openFiles.map { $0.representation.total == nil } ?? false }
  var isConfirmed: Bool { fetches.contains(where: \.isConfirmed) }

  var canSeek: Bool {
    let isValidated = openFiles.map { $0.representation.validator != nil } ?? true
    return ranges == .trusted && !beginsAnew && isValidated && !hasNoLength
      && !(refusesBeside && !fetches.isEmpty)
  }

  var mayFetch: Bool { demand != .failed && demand != .paused && !record.request.url.isEmpty }

  /// Whether a response goes on though nobody waits: its reader would have to ask for all of it again.
  var readsThrough: Bool { mayFetch && !canSeek && currentReaders.contains { $0.intent == .fetchOnly } }
  var servesReaders: Bool { !fetchableWaits.isEmpty || readsThrough }

  /// What readers wait for that may be fetched for them; the oldest wait comes first. Who reads behind the end, before
  /// anything is here, waits for the last byte: its response tells which file it is of.
  var fetchableWaits: [Range<Int64>] {
    if !mayFetch { return [] }
    let last = files == nil ? record.total.map { max($0 - 1, 0) } ?? .max : .max
    return currentReaders.filter { $0.intent != .cachedOnly }
      .flatMap(\.waits).sorted { ($0.begun, $0.id) < ($1.begun, $1.id) }
      .map { $0.range.lowerBound > last ? last..<last + 1 : $0.range }
  }

  var missing: Int64 { max((record.total ?? 0) - received, 0) }

  /// Bytes to come. A feed's length counts where no response has told one, up to `limit` and the largest file.
  func expected(atMost limit: Int64) -> Int64 {
    guard record.total == nil, let length = record.request.expectedLength,
      length <= min(Limits.largestFile, limit)
    else { return missing }
    return max(length - received, 0)
  }

  /// Whether its podcast was forgotten: the store is told nothing of it.
  var isForgotten: Bool { record.request.url.isEmpty && content == .nothing && !record.isKept }

  var status: TransferStatus {
    var status = record
    status.state = state
    status.received = received
    switch state {
    case .queued:
      let isForbidden = retry.until != nil && retry.forbiddenUntil != nil
      status.error =
        slot.message ?? record.error ?? (isForbidden ? "\(source.named) wants to be left alone" : nil)
    case .cached: status.error = nil
    case .downloading:
      status.rate = meter.rate
      if let rate = meter.rate, rate > 0, let total = record.total {
        let seconds = max(0, (total - received + rate - 1) / rate)
        if seconds <= Self.longestGuess { status.eta = seconds }
      }
      if let seconds = meter.stalled { status.error = "stalled for \(seconds) s" }
    case .remote, .paused, .failed: break
    }
    return status
  }

  var row: TransferStatus {
    var row = record
    // Whole only when that is on the disk.
    let isOnDisk = files?.hasUnflushed != true && !(mustLook && demand != .none)
    row.state = state(isWhole: content == .whole && isOnDisk)
    row.tries = retry.tries
    if fetches.isEmpty { row.received = received }
    if row.state == .downloading { row.received = told.row?.received ?? row.received }
    // No bytes mean no files, also after a power loss.
    if content != .nothing { row.received = max(row.received, 1) }
    return row
  }

  subscript(id: FlowID) -> Fetch? {
    get { fetches.first { $0.id == id } }
    set {
      guard let index = fetches.firstIndex(where: { $0.id == id }) else { return }
      if let newValue { fetches[index] = newValue } else { fetches.remove(at: index) }
    }
  }

  var isWorthARow: Bool {
    !isForgotten
      && (demand != .none || content == .whole || record.isKept || record.error != nil
        || record.generation > 0 || record.total != nil || retry.forbiddenUntil != nil)
  }

  var isWorthSaving: Bool { isWorthARow ? told.row != row : told.row != nil }

  /// Stored bytes that requests depended on are gone, or others have begun.
  mutating func expectsNothing() {
    beginsAnew = false
    if ranges == .overlap { ranges = .trusted }
    source.earlyEnd = [:]
  }

  mutating func take(_ request: TransferRequest) {
    if record.request.url != request.url {
      source = Source(request.url)
      // What was forgotten has no address: its server may still want to be left alone.
      if !record.request.url.isEmpty { retry.addressChanged() }
      // A fresh address ends the search for one.
      if isSearching { search = .done }
    }
    record.request = request
  }

  /// - Parameter client: whose reader asks; nil where it is ordered.
  mutating func want(by client: ClientID?, place: Int64, at now: Instant) {
    let isNew = demand == .none && content != .whole
    switch demand {
    // Somebody may have made room for it.
    case .wanted where retry.lacksRoom: begin(by: nil)
    case .wanted(let other): demand = .wanted(by: other == client ? client : nil)
    case .failed where client != nil && !retry.mayTryAgain(now): return
    case .paused: begin(by: nil)
    case .none, .failed: begin(by: client)
    }
    if isNew || record.order == 0 { record.order = place }
    guard client == nil else { return }
    record.dropsAtClose = false
    // Perhaps deleted: until that is known, the row does not say that all of it is here.
    if content == .whole && files?.hasUnflushed != true { mustLook = true }
    retry.refusal = nil
    retry.hurry(at: now)
  }

  private mutating func begin(by client: ClientID?) {
    (demand, search, record.error) = (.wanted(by: client), .none, nil)
    retry.beginAnew()
    // The server may have learnt.
    if ranges == .whole { ranges = .trusted }
    source.earlyEnd = [:]
  }

  mutating func pause() {
    record.dropsAtClose = false
    if content != .whole { (demand, search, record.error) = (.paused, .none, nil) }
  }

  /// An order was refused. What goes at its last close is tried again a little later.
  mutating func refused(at now: Instant) {
    if record.dropsAtClose { awaitsReaders = now.adding(Self.patience) }
  }

  /// Takes it out of the queue; what has come stays.
  mutating func withdraw() {
    (demand, search, record.error) = (.none, .none, nil)
    retry.until = retry.forbiddenUntil
  }

  /// Does what was ordered. Also on a copy, to learn the row that is committed first.
  mutating func obey(_ order: CommandLog.Order, at now: Instant) {
    if let request = order.order.request { take(request) }
    if order.order.takesFiles { (content, files, mustLook, record.received) = (.nothing, nil, false, 0) }
    switch order.order.verb {
    case .start: want(by: nil, place: order.place, at: now)
    case .pause: pause()
    case .keep: (record.isKept, record.dropsAtClose) = (true, false)
    case .unkeep: record.isKept = false
    case .leave:
      if demand == .wanted(by: order.name.client), !record.isKept, readers.isEmpty { withdraw() }
    case .dropAtClose: record.dropsAtClose = true
    case .drop, .forget:
      withdraw()
      record.dropsAtClose = false
      if order.order.verb == .forget { record = record.forgotten }
    // What was found by its name has no address. What is dropped at its last close comes only as it is read.
    case .replace:
      if demand == .none && !record.dropsAtClose && !record.request.url.isEmpty {
        want(by: nil, place: order.place, at: now)
      }
    }
  }
}
