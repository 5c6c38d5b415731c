internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

struct Fetch: Hashable {
  enum Stage: Hashable {
    case asked
    /// Its head waits until it is known what is stored.
    case answered(firstBytes: [UInt8])
    /// It begins a generation whose files are being made; its bytes begin at `at`.
    case begins(Representation, at: Int64)
    /// Its bytes go to the disk, since then.
    case feeding(Instant)
  }

  enum Ending: Hashable {
    case none
    /// It has ended, and its last bytes are on their way to the disk.
    case ended(Fault?)
  }

  let id: FlowID
  let request: Range<Int64>
  /// Whether it was sent to the address that answered before, not through the feed's redirects.
  let isDirect: Bool
  /// Whether it brings the file's end beside the first response (`askForTail`).
  let isTail: Bool
  let asked: Instant
  var stage = Stage.asked
  var head: ResponseHead?
  /// What has come. Before `feeding` it is only held.
  var intake: Intake
  /// What its head says of the representation, until its bytes have agreed.
  var claim: Representation?
  /// Whether nothing more is taken from its host for now.
  var isHeld = false
  var ending = Ending.none

  var began: Instant? { if case .feeding(let since) = stage { since } else { nil } }
  var isFeeding: Bool { began != nil }
  var isConfirmed: Bool { isFeeding && intake.agreeing <= 0 }
  var hasEnded: Bool { if case .ended = ending { true } else { false } }

  /// Bytes per second since it began; nil while that says nothing.
  func rate(_ now: Instant) -> Int64? {
    guard let seconds = began.map({ now.seconds(since: $0) }), seconds >= 0.2 else { return nil }
    return Int64(Double(intake.arrived - intake.start) / seconds)
  }
}

struct Reader: Hashable {
  struct Wait: Hashable {
    let id: UInt64
    let range: Range<Int64>
    let begun: Instant
  }

  let name: ClientNumber
  let intent: OpenIntent
  var generation: UInt32?
  let begun: Instant
  /// Whether a read has come (which makes `downloadAtRead` download).
  var hasRead = false
  /// Whether the client still waits for the answer to its open.
  var isOpening = true
  var waits: [Wait] = []

  var mayDownload: Bool { intent == .download || (intent == .downloadAtRead && hasRead) }
}

/// Where a response's bytes go: which are compared with what is stored, which are written, and when.
///
/// `position` is what has been given to the disk, `arrived` what has come; what lies between is held.
struct Intake: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case write(Range<Int64>)
    case compare(Range<Int64>)
    /// The rest that it would bring is stored already.
    case reachedStored
    /// The stored bytes end before enough of them were compared.
    case tooFewStored
  }

  /// How soon what is held goes to the disk.
  enum Urgency: Hashable, Sendable {
    /// In large pieces, at their places.
    case none
    /// Someone waits for it: in whole blocks.
    case waited
    /// No more will come, or not for long: all of it.
    case all
  }

  let start: Int64
  private(set) var position: Int64
  private(set) var arrived: Int64
  private(set) var inFlight: Int64 = 0
  /// Whether the disk compares: nothing more is given before it has answered.
  private(set) var isComparing = false
  /// How many bytes of the response must still equal stored ones before the engine writes any of it.
  private(set) var agreeing: Int64
  /// Whether the response ends where it reaches stored bytes: its host gives ranges, so another request can skip them.
  let mayStop: Bool
  /// The offset behind the last byte that it may bring: by its head, or by an earlier response's head.
  let end: Int64

  /// Stored bytes up to this many are read through, not skipped by a new request.
  static let island: Int64 = RequestPlanner.nearby / 8

  init(at position: Int64, end: Int64 = .max, agreeing: Int64 = 0, mayStop: Bool) {
    (start, self.position, arrived) = (position, position, position)
    (self.end, self.agreeing, self.mayStop) = (end, agreeing, mayStop)
  }

  var held: Int64 { arrived - position + inFlight }

  /// - Returns: false where it was more than may come: the rest counts for nothing.
  mutating func came(_ count: Int64) -> Bool {
    let isTooMuch = count > end - arrived
    arrived = isTooMuch ? end : arrived + count
    return !isTooMuch
  }

  /// What to do next with what is held; nil where nothing yet.
  /// - Parameter fed: where other responses of the same episode go on.
  mutating func next(stored: ByteRanges, total: Int64?, _ urgency: Urgency, fed: [Int64] = []) -> Step? {
    if isComparing || position >= arrived { return nil }
    if let run = stored.run(at: position) {
      // Behind one that is as fast it would have all that comes once more.
      let isOfUse = run.upperBound - position <= Self.island && !fed.contains(run.upperBound)
      if agreeing <= 0 && (run.upperBound == total || mayStop && !isOfUse) { return .reachedStored }
      isComparing = true
      return .compare(give(upTo: min(run.upperBound, arrived, position + Limits.largestWrite)))
    }
    if agreeing > 0 { return .tooFewStored }
    let limit = min(arrived, stored.run(from: position)?.lowerBound ?? .max)
    var end = min(limit, Limits.aligned(position + Limits.largestWrite, Limits.alignment))
    // Where what is stored begins, blocks are completed.
    let isFilled = limit < arrived || stored.contains(limit)
    if end == limit && urgency != .all && !isFilled {
      end = Limits.aligned(end, urgency == .waited ? Limits.block : Limits.alignment)
      if end <= position { return nil }
    }
    return .write(give(upTo: end))
  }

  private mutating func give(upTo end: Int64) -> Range<Int64> {
    defer { position = end }
    inFlight += end - position
    return position..<end
  }

  mutating func wrote(_ range: Range<Int64>) { inFlight -= range.length }

  /// - Parameter agreed: how many of them are equal.
  /// - Returns: `isSame`: all are equal. `isShown`: enough were compared by now to take both for the same file.
  mutating func compared(_ range: Range<Int64>, agreed: Int64) -> (isSame: Bool, isShown: Bool) {
    isComparing = false
    inFlight -= range.length
    guard agreed == range.length else { return (false, false) }
    let wasAgreeing = agreeing > 0
    agreeing -= range.length
    return (true, wasAgreeing && agreeing <= 0)
  }
}
