/// The bytes of the disk that may still be written: their one owner. Who is to write takes them here first; what is on
/// its way to the disk counts as used, also where a look at the disk may have missed it.
struct FreeSpace: Hashable, Sendable {
  private(set) var left: Int64?
  private var seen = Instant(nanoseconds: .min / 2)
  /// Whether the disk is being looked at; and whether what it tells will be old, because room was made meanwhile.
  private(set) var isLooking = false
  private var isOutdated = false
  /// Bytes taken that the disk has not answered for.
  private(set) var onTheWay: Int64 = 0
  /// What the look under way may have missed: what was on its way when it began, and what has been taken since.
  private var unseen: Int64 = 0

  /// Seconds for which a look is believed, because others write to the disk too.
  private static let freshness = 0.5

  /// What a piece may take of the disk: whole blocks.
  static func cost(of range: Range<Int64>) -> Int64 { Limits.blocks(of: range).length }

  func isFresh(at now: Instant) -> Bool { isKnown(at: now, for: Self.freshness) }

  func isKnown(at now: Instant, for seconds: Double) -> Bool {
    left != nil && now < seen.adding(seconds)
  }

  /// A piece goes to the disk, which answers for it exactly once.
  mutating func take(_ range: Range<Int64>) {
    let cost = Self.cost(of: range)
    left = left.map { $0 - cost }
    onTheWay += cost
    if isLooking { unseen += cost }
  }

  /// The disk has written a piece, or has refused to: either is seen by the next look.
  mutating func answered(_ range: Range<Int64>) { onTheWay -= Self.cost(of: range) }

  /// - Returns: whether the disk is to be looked at: not where it is being looked at.
  mutating func look() -> Bool {
    if isLooking { return false }
    isLooking = true
    isOutdated = false
    unseen = onTheWay
    return true
  }

  /// What a look has found.
  /// - Returns: whether that says what is there now; else it must be looked at once more.
  mutating func looked(_ available: Int64, at now: Instant) -> Bool {
    isLooking = false
    left = available - unseen
    unseen = 0
    if isOutdated { return false }
    seen = now
    return true
  }

  /// Something has been let go of, or other bounds hold: what a look under way tells is not all.
  mutating func outdate() {
    isOutdated = true
    seen = Instant(nanoseconds: .min / 2)
  }
}
