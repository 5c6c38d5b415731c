internal import PodcastModel

/// The files of a download's generation, as far as the engine knows them.
final class Store {
  enum Phase: Hashable {
    case opening
    /// A new generation of this representation, for a response that waits.
    case creating(FlowID)
    case open
  }
  let id: StoreID
  var phase: Phase
  let generation: UInt32
  var representation: Representation
  /// The size that readers see: a new one only once the disk has it, because they look there.
  private(set) var shownTotal: Int64?
  /// Descriptions that the disk has not answered.
  private(set) var undescribed = 0
  /// What is written, and what is written or on its way.
  private(set) var present = ByteRanges()
  private(set) var claimed = ByteRanges()
  private(set) var received: Int64 = 0
  /// Bytes written since the last flush began.
  private(set) var unflushed: Int64 = 0
  /// Whether the representation has not been flushed.
  var isDescriptionNew = false
  /// Whether a flush is under way: at most one of an episode is.
  var isFlushing = false
  /// Orders that the disk has not answered.
  var pending = 0
  /// Those of them that let go of what was found damaged.
  var discards = 0
  /// Whether bytes have been found that are not what was written.
  var isDamaged = false
  /// Whether its data file has its name: nobody has deleted the cache.
  var isLinked = true
  /// Whether files were deleted while it was being opened.
  var mustBeChecked = false

  init(_ id: StoreID, _ phase: Phase, generation: UInt32, _ representation: Representation) {
    self.id = id
    self.phase = phase
    self.generation = generation
    self.representation = representation
    shownTotal = representation.total
  }

  var isOpen: Bool { phase == .open }

  /// Whether every byte is there.
  var isComplete: Bool { representation.total.map { present.contains(0..<$0) } ?? false }

  /// Whether everything is on the disk.
  var isFlushed: Bool { unflushed == 0 && !isDescriptionNew && !isFlushing && pending == 0 }

  func opened(_ representation: Representation, present: ByteRanges) {
    self.representation = representation
    shownTotal = representation.total
    setPresent(present)
    // Of what a killed daemon wrote, nobody knows how much is on the disk.
    unflushed = max(received, 0)
  }

  func describes() { undescribed += 1 }

  func described() {
    undescribed = max(undescribed - 1, 0)
    if undescribed == 0 { shownTotal = representation.total }
  }

  /// The disk has refused something, and it may have been a description: none is waited for any more.
  func refusedDescription() { undescribed = 0 }

  func claim(_ range: Range<Int64>) { claimed.insert(range) }

  func wrote(_ range: Range<Int64>) {
    let before = present.count
    present.insert(range)
    received = present.count
    unflushed += max(received - before, 0)
  }

  /// Only this is there.
  func setPresent(_ ranges: ByteRanges) {
    present = ranges
    claimed = ranges
    received = ranges.count
  }

  func beginFlush() {
    isFlushing = true
    unflushed = 0
    isDescriptionNew = false
  }

  /// A flush has failed: only this is there, and the journal may not say so.
  func notFlushed(present: ByteRanges) {
    isFlushing = false
    setPresent(present)
    unflushed = max(received, 1)
    isDescriptionNew = true
  }

  /// Nothing behind a size that is known now is of the file.
  func cut(at total: Int64) {
    present.truncate(at: total)
    claimed.truncate(at: total)
    received = present.count
  }

  /// Whether readers see all of `range` that the file has: they see whole blocks; of one that is coming its beginning,
  /// which is for who waits for a single byte.
  func shows(_ range: Range<Int64>) -> Bool {
    let end = shownTotal ?? .max
    let wanted = range.clamped(to: 0..<end)
    if wanted.isEmpty { return true }
    let upper =
      wanted.length == 1
      ? wanted.upperBound
      : wanted.upperBound > Int64.max - Limits.block ? wanted.upperBound : Self.blockEnd(wanted.upperBound)
    return present.contains(wanted.lowerBound / Limits.block * Limits.block..<min(upper, end))
  }

  private static func blockEnd(_ offset: Int64) -> Int64 {
    (offset + Limits.block - 1) / Limits.block * Limits.block
  }
}
