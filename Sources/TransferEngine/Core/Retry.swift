internal import TransferProtocol

/// When a download that failed is tried again: soon where bytes came since the last time, else later and later.
struct Retry: Hashable {
  /// Tries in a row that brought nothing.
  var attempts = 0
  /// When to try again; nil for at once.
  var until: Instant?
  /// Until when the disk, which has just refused to open or flush the files, is not asked again.
  var filesUntil: Instant?
  private(set) var failed: Moment?
  /// Until when the server wants to be left alone (its Retry-After).
  private(set) var forbiddenUntil: Instant?
  /// What readers get who have nothing of the episode, and since when; nil where they wait.
  var refusal: Refusal?
  /// Whether the last fault was that the disk had no room.
  var lacksRoom = false
  /// In how many networks, or on how many days, the download failed for a doubtful reason (a login page, for one). The
  /// others tell when the last of them was counted, and in which network.
  private var doubts: Int64 = 0
  private var doubted: Int64 = 0
  private var doubtedNetwork: Int64 = 0
  /// What had come at the last request or fault, of which generation, and how much more is progress.
  private var mark = Mark()
  /// Requests in a row that brought nothing, one at once after the other.
  private var fruitless = 0

  struct Refusal: Hashable {
    var failure: TransferFailure
    var at: Instant
  }

  private struct Mark: Hashable {
    var received: Int64 = 0
    var generation: UInt32 = 0
    var progress = Retry.progress
  }

  init() {}

  init(_ record: TransferStatus, now: Moment) {
    attempts = Int(clamping: record.tries.count)
    (doubts, doubted) = (record.tries.doubts, record.tries.doubted)
    mark = Mark(received: record.received, generation: record.generation)
    let wait = record.forbiddenSeconds(now: now.wall)
    if wait > 0 { forbiddenUntil = now.instant.adding(Double(wait)) }
    if let wall = record.tries.failed, wall <= now.wall {
      let age = Double(min(now.wall - wall, 3600))
      failed = Moment(instant: now.instant.adding(-age), wall: wall)
      let left = attempts > 0 ? Self.delay(after: attempts) - age : 0
      if left > 0 && record.isUnfinished { until = now.instant.adding(left) }
    }
    if record.isUnfinished, let forbiddenUntil { until = max(until ?? forbiddenUntil, forbiddenUntil) }
  }

  /// What the next daemon has to know. The server's time is by the clock of the failure: that may have been set since.
  var tries: TransferStatus.Tries {
    var tries = TransferStatus.Tries()
    (tries.failed, tries.count) = (failed?.wall, Int64(attempts))
    (tries.doubts, tries.doubted) = (doubts, doubted)
    if let failed, let forbiddenUntil {
      let seconds = forbiddenUntil.seconds(since: failed.instant).rounded(.up)
      tries.notBefore = seconds > 0 ? failed.wall + Int64(seconds) : nil
    }
    return tries
  }

  mutating func failed(at now: Moment, retryAfter seconds: Double? = nil) {
    failed = now
    if let seconds { forbiddenUntil = now.instant.adding(seconds) }
  }

  /// The server has answered, or it is another address: it may be asked again.
  mutating func permitted() {
    forbiddenUntil = nil
    refusal = nil
  }

  mutating func answered() {
    permitted()
    doubts = 0
  }

  /// Counts a doubtful failure once for each network and day.
  /// - Returns: whether the failures prove that the host itself is at fault.
  mutating func isCertain(at wall: Int64, in network: Int64) -> Bool {
    let age = wall - doubted
    if doubts == 0 || doubtedNetwork != network && age >= Self.timeInNetwork || age >= Self.day {
      doubts += 1
      (doubted, doubtedNetwork) = (wall, network)
    }
    return doubts >= Self.mostDoubts
  }

  private static let mostDoubts: Int64 = 3
  /// Seconds in which a machine joins one network, step by step.
  private static let timeInNetwork: Int64 = 60
  private static let day: Int64 = 86_400

  /// Bytes that are progress; a few each time are none, unless no more were asked for.
  static let progress: Int64 = 65_536
  /// Seconds after a try that brought bytes, and the longest after one that did not: as a rule, and where somebody waits.
  private static let afterProgress = 0.2
  static let longest = 300.0
  private static let longestWaited = 5.0
  /// Requests at once one after the other that may bring nothing.
  private static let mostFruitless = 5

  /// Half a second, doubled with each.
  static func delay(after attempts: Int, atMost longest: Double = longest) -> Double {
    min(0.5 * Double(1 << min(max(attempts - 1, 0), 13)), longest)
  }

  /// - Returns: seconds to the next one, before jitter.
  mutating func failed(received: Int64, of generation: UInt32, isWaitedFor: Bool = false) -> Double {
    let hasProgress = note(received, generation)
    if hasProgress { attempts = 0 }
    attempts = min(attempts + 1, 30)
    fruitless = 0
    let delay = hasProgress ? Self.afterProgress : Self.delay(after: attempts)
    return isWaitedFor ? min(delay, Self.longestWaited) : delay
  }

  /// - Returns: false where too many of them brought nothing: the host is to be left alone.
  mutating func mayAskAtOnce(received: Int64, of generation: UInt32, size: Int64) -> Bool {
    if note(received, generation) { fruitless = 0 }
    mark.progress = min(size, Self.progress)
    fruitless += 1
    return fruitless <= Self.mostFruitless
  }

  /// Forgets that the last requests brought nothing: the disk refused their bytes, or the engine ended them itself. The host is
  /// not to blame.
  mutating func excuseHost() { fruitless = 0 }

  mutating func leaveOneTry() { fruitless = Self.mostFruitless - 1 }

  /// - Returns: whether bytes have come since the last time, of the same generation: a host that gives another file each
  ///   time makes no progress.
  private mutating func note(_ received: Int64, _ generation: UInt32) -> Bool {
    let hasProgress = generation == mark.generation && received >= mark.received + mark.progress
    mark = Mark(received: received, generation: generation)
    return hasProgress
  }

  mutating func beginAnew() {
    let before = self
    self = Retry()
    (forbiddenUntil, failed, until) = (before.forbiddenUntil, before.failed, before.forbiddenUntil)
  }

  /// It has all come, or the disk alone was to blame.
  mutating func succeeded() {
    attempts = 0
    until = forbiddenUntil
    lacksRoom = false
  }

  /// Somebody wants it now: a later try is made at once, unless one has just been made or the server wants to be left
  /// alone.
  mutating func hurry(at now: Instant) {
    guard until != nil, !isForbidden(now), !isRefusing(now) else { return }
    if let failed, now < failed.instant.adding(Self.justNow) { return }
    until = nil
  }

  /// The machine's network has changed: many a change is followed by others, so not within a second of the last try.
  mutating func networkChanged(at now: Instant) {
    if until == nil || isForbidden(now) { return }
    let soonest = failed?.instant.adding(Self.justNow)
    until = soonest.flatMap { $0 > now ? $0 : nil }
    attempts = 0
    refusal = nil
  }

  private static let justNow = 1.0

  func isForbidden(_ now: Instant) -> Bool { forbiddenUntil.map { $0 > now } ?? false }

  /// Whether an open may try again what has failed for good.
  func mayTryAgain(_ now: Instant) -> Bool {
    !isForbidden(now) && failed.map { now >= $0.instant.adding(Self.early) } ?? true
  }

  /// Whether readers were refused just now, so that another reader is no reason to try again.
  func isRefusing(_ now: Instant) -> Bool { refusal.map { now < $0.at.adding(Self.early) } ?? false }

  private static let early = 10.0
}
