internal import PodcastModel

/// Where a response's bytes go: which are compared with what is stored, which are written, and when.
///
/// `position` is what has been given to the disk, `arrived` what has come; what lies between is held.
struct Intake: Hashable, Sendable {
  let start: Int64
  private(set) var position: Int64
  private(set) var arrived: Int64
  /// Bytes given to the disk and not answered yet.
  private(set) var inFlight: Int64 = 0
  /// Whether the disk compares: nothing more is given before it has answered.
  private(set) var isComparing = false
  /// Bytes that must still agree with stored ones before any may be written.
  private(set) var agreeing: Int64
  /// Whether to end where the next bytes are stored, because another request can skip them.
  let mayStop: Bool
  /// Where what it may bring ends, by its head's word or that of those before.
  let end: Int64

  /// Stored bytes up to this many are read through, not skipped by a new request.
  static let island: Int64 = RequestPlanner.nearby / 8

  init(at position: Int64, end: Int64 = .max, agreeing: Int64 = 0, mayStop: Bool) {
    (start, self.position, arrived) = (position, position, position)
    (self.end, self.agreeing, self.mayStop) = (end, agreeing, mayStop)
  }

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

  var held: Int64 { arrived - position + inFlight }

  /// - Returns: false where it was more than may come: the rest counts for nothing.
  mutating func came(_ count: Int64) -> Bool {
    let isTooMuch = count > end - arrived
    arrived = isTooMuch ? end : arrived + count
    return !isTooMuch
  }

  /// What to do next with what is held; nil where nothing yet.
  /// - Parameter fed: where other responses of the same episode go on.
  mutating func next(
    stored: ByteRanges, total: Int64?, _ urgency: Urgency, fed: [Int64] = []
  ) -> Step? {
    if isComparing || position >= arrived { return nil }
    let run = stored.run(at: position)
    if let run {
      // Behind one that is as fast it would have all that comes once more.
      let isOfUse = run.upperBound - position <= Self.island && !fed.contains(run.upperBound)
      if agreeing <= 0 && (run.upperBound == total || mayStop && !isOfUse) { return .reachedStored }
      return compare(position..<min(run.upperBound, arrived, position + Limits.largestWrite))
    }
    if agreeing > 0 { return .tooFewStored }
    let end = min(arrived, stored.run(from: position)?.lowerBound ?? .max)
    // Where what is stored begins, blocks are completed.
    let isFilled = end < arrived || stored.contains(end)
    return write(position..<end, urgency: isFilled ? .all : urgency)
  }

  private mutating func compare(_ range: Range<Int64>) -> Step {
    isComparing = true
    position = range.upperBound
    inFlight += range.length
    return .compare(range)
  }

  private mutating func write(_ range: Range<Int64>, urgency: Urgency) -> Step? {
    var end = min(range.upperBound, Self.aligned(range.lowerBound + Limits.largestWrite, Limits.alignment))
    if end == range.upperBound && urgency != .all {
      end = Self.aligned(end, urgency == .waited ? Limits.block : Limits.alignment)
      if end <= range.lowerBound { return nil }
    }
    position = end
    inFlight += end - range.lowerBound
    return .write(range.lowerBound..<end)
  }

  mutating func wrote(_ range: Range<Int64>) { inFlight -= range.length }

  /// A disk thread has compared bytes of the response with the stored bytes of `range`.
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

  private static func aligned(_ offset: Int64, _ step: Int64) -> Int64 { offset / step * step }
}
