internal import PosixKit
internal import TransferProtocol

/// When a download that failed is tried again: soon where bytes came since the last time, else later and later.
struct Retry: Hashable {
  struct Refusal: Hashable {
    var failure: TransferFailure
    var at: Instant
  }

  private struct Mark: Hashable {
    var received: Int64 = 0
    var generation: UInt32 = 0
    var progress = Retry.progress
  }

  /// What the next daemon has to know, by the wall clock of the failures: that may have been set since.
  var tries = TransferStatus.Tries()
  private(set) var failed: Instant?
  /// When to try again; nil for at once.
  var until: Instant?
  /// Until when the disk, which has just refused to open or flush the files, is not asked again.
  var filesUntil: Instant?
  /// Until when the server wants to be left alone (its Retry-After).
  private(set) var forbiddenUntil: Instant?
  /// What readers get who have nothing of the episode, and since when; nil where they wait.
  var refusal: Refusal?
  var lacksRoom = false
  /// In which network a doubtful failure (a login page, for one) was counted last.
  private var doubtedNetwork: Int64 = 0
  /// What had come at the last request or fault, of which generation, and how much more is progress.
  private var mark = Mark()
  /// Requests in a row that brought nothing, one at once after the other.
  private var fruitless = 0

  /// Seconds after a try in which no order or change of the network makes another one.
  static let justNow = 1.0
  /// Seconds after a failure in which no open makes another try.
  private static let early = 10.0
  /// Bytes that are progress; a few each time are none, unless no more were asked for.
  static let progress: Int64 = 65_536
  /// Seconds after a try that brought bytes, and the longest after one that did not: as a rule, and where somebody waits.
  private static let afterProgress = 0.2
  static let longest = 300.0
  private static let longestWaited = 5.0
  /// Requests at once one after the other that may bring nothing.
  private static let mostFruitless = 5
  /// Doubtful failures, each in another network or on another day, that prove the host itself to be at fault.
  private static let mostDoubts: Int64 = 3
  /// Seconds in which a machine joins one network, step by step.
  private static let timeInNetwork: Int64 = 60
  private static let day: Int64 = 86_400

  init() {}

  init(_ record: TransferStatus, now: Moment) {
    tries = record.tries
    mark = Mark(received: record.received, generation: record.generation)
    let wait = record.forbiddenSeconds(now: now.wall)
    if wait > 0 { forbiddenUntil = now.instant.adding(Double(wait)) }
    if let wall = tries.failed, wall <= now.wall {
      let age = Double(min(now.wall - wall, 3600))
      failed = now.instant.adding(-age)
      let left = attempts > 0 ? Self.delay(after: attempts) - age : 0
      if left > 0 && record.isUnfinished { until = now.instant.adding(left) }
    } else {
      tries.failed = wait > 0 ? now.wall : nil
      tries.notBefore = wait > 0 ? now.wall + wait : nil
    }
    if record.isUnfinished, let forbiddenUntil { until = max(until ?? forbiddenUntil, forbiddenUntil) }
  }

  var attempts: Int { Int(clamping: tries.count) }
  func isForbidden(_ now: Instant) -> Bool { forbiddenUntil.map { $0 > now } ?? false }

  func mayTryAgain(_ now: Instant) -> Bool {
    !isForbidden(now) && failed.map { now >= $0.adding(Self.early) } ?? true
  }

  /// Whether readers were refused just now, so that another reader is no reason to try again.
  func isRefusing(_ now: Instant) -> Bool { refusal.map { now < $0.at.adding(Self.early) } ?? false }

  /// Half a second, doubled with each.
  static func delay(after attempts: Int, atMost longest: Double = longest) -> Double {
    min(0.5 * Double(1 << min(max(attempts - 1, 0), 13)), longest)
  }

  mutating func failed(at now: Moment, retryAfter seconds: Double? = nil) {
    (failed, tries.failed) = (now.instant, now.wall)
    if let seconds { forbiddenUntil = now.instant.adding(seconds) }
    let left = forbiddenUntil?.seconds(since: now.instant) ?? 0
    // By the clock as it is now: it may have been set since. Whole seconds, rounded up from where it is within its second.
    tries.notBefore = left > 0 ? Int64((Double(now.wallNanoseconds) / 1e9 + left).rounded(.up)) : nil
  }

  /// - Returns: seconds to the next try, before jitter.
  mutating func failed(received: Int64, of generation: UInt32, isWaitedFor: Bool = false) -> Double {
    let hasProgress = note(received, generation)
    tries.count = min(hasProgress ? 1 : tries.count + 1, 30)
    fruitless = 0
    let delay = hasProgress ? Self.afterProgress : Self.delay(after: attempts)
    return isWaitedFor ? min(delay, Self.longestWaited) : delay
  }

  /// Counts a doubtful failure once for each network and day.
  /// - Returns: whether the failures prove that the host itself is at fault.
  mutating func isCertain(at wall: Int64, in network: Int64) -> Bool {
    let age = wall - tries.doubted
    if tries.doubts == 0 || doubtedNetwork != network && age >= Self.timeInNetwork || age >= Self.day {
      tries.doubts += 1
      (tries.doubted, doubtedNetwork) = (wall, network)
    }
    return tries.doubts >= Self.mostDoubts
  }

  /// - Returns: false where too many of them brought nothing: the host is to be left alone.
  mutating func mayAskAtOnce(received: Int64, of generation: UInt32, size: Int64) -> Bool {
    if note(received, generation) { fruitless = 0 }
    mark.progress = min(size, Self.progress)
    fruitless += 1
    return fruitless <= Self.mostFruitless
  }

  /// - Returns: whether bytes have come since the last time. Bytes of another generation are no progress.
  private mutating func note(_ received: Int64, _ generation: UInt32) -> Bool {
    defer { mark = Mark(received: received, generation: generation) }
    return generation == mark.generation && received >= mark.received + mark.progress
  }

  /// The disk or the engine is to blame for the last requests that brought nothing, not the host.
  mutating func excuseHost() { fruitless = 0 }
  mutating func leaveOneTry() { fruitless = Self.mostFruitless - 1 }
  /// The server has answered: it may be asked again.
  mutating func permitted() { (forbiddenUntil, tries.notBefore, refusal) = (nil, nil, nil) }

  mutating func answered() {
    permitted()
    tries.doubts = 0
  }

  /// What was said of the old address does not hold for another one.
  mutating func addressChanged() {
    if forbiddenUntil != nil { until = nil }
    permitted()
  }

  /// Somebody wants it: nothing but the server's Retry-After holds it back.
  mutating func beginAnew() {
    var new = Retry()
    (new.failed, new.forbiddenUntil, new.until) = (failed, forbiddenUntil, forbiddenUntil)
    (new.tries.failed, new.tries.notBefore) = (tries.failed, tries.notBefore)
    self = new
  }

  /// It has all come, or the disk alone was to blame.
  mutating func succeeded() { (tries.count, until, lacksRoom) = (0, forbiddenUntil, false) }

  /// Somebody wants it now: tries at once, or a second after the last try. Not where the server wants to be left alone.
  mutating func hurry(at now: Instant) {
    guard let next = until, !isForbidden(now), !isRefusing(now) else { return }
    until = soonest(now).map { min(next, $0) }
  }

  /// Tries again because the machine's network has changed: now, or a second after the last try. Changes come in groups.
  mutating func networkChanged(at now: Instant) {
    if until == nil || isForbidden(now) { return }
    (until, tries.count, refusal) = (soonest(now), 0, nil)
  }

  /// When this download may be tried again at the earliest, a second after its last failure; nil for at once.
  private func soonest(_ now: Instant) -> Instant? {
    failed.map { $0.adding(Self.justNow) }.flatMap { $0 > now ? $0 : nil }
  }
}
