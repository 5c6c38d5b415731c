internal import PodcastModel

struct OpenFiles: Hashable {
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
  /// Descriptions on their way to the disk, and all orders on their way.
  private(set) var undescribed = 0
  private(set) var pending = 1
  /// What is written, and what is written or on its way.
  private(set) var present = ByteRanges()
  private(set) var claimed = ByteRanges()
  /// Bytes written since the last flush began, and one for a new description.
  private(set) var unflushed: Int64 = 0
  var isFlushing = false
  /// Whether its data file has its name: nobody has deleted the cache.
  var isLinked = true

  init(_ id: StoreID, _ phase: Phase, generation: UInt32, _ representation: Representation = Representation())
  {
    (self.id, self.phase, self.generation) = (id, phase, generation)
    (self.representation, shownTotal) = (representation, representation.total)
  }

  var isOpen: Bool { phase == .open }
  var received: Int64 { present.count }
  var isComplete: Bool { representation.total.map { present.contains(0..<$0) } ?? false }
  var hasUnflushed: Bool { unflushed > 0 || isFlushing }
  var isFlushed: Bool { !hasUnflushed && pending == 0 }

  /// - Parameter isWhole: whether its name says that all of it is on the disk.
  mutating func opened(_ representation: Representation, present: ByteRanges, isWhole: Bool) {
    phase = .open
    (self.representation, shownTotal) = (representation, representation.total)
    setPresent(present)
    // Nobody knows how much a killed daemon has brought to the disk.
    unflushed = isWhole && isComplete ? 0 : received
  }

  mutating func describe(_ representation: Representation) {
    self.representation = representation
    if let total = representation.total {
      present.truncate(at: total)
      claimed.truncate(at: total)
    }
    unflushed = max(unflushed, 1)
    pending += 1
    undescribed += 1
  }

  mutating func answered(_ answer: DiskAnswer) {
    pending -= 1
    undescribed = answer == .described ? max(undescribed - 1, 0) : min(undescribed, pending)
    if answer == .described && undescribed == 0 { shownTotal = representation.total }
  }

  mutating func claim(_ range: Range<Int64>) {
    pending += 1
    claimed.insert(range)
  }

  mutating func compare() { pending += 1 }

  mutating func wrote(_ range: Range<Int64>) {
    let before = received
    present.insert(range)
    // A write that failed before this one may have taken the claim away.
    claimed.insert(range)
    unflushed += max(received - before, 0)
  }

  mutating func setPresent(_ ranges: ByteRanges) { (present, claimed) = (ranges, ranges) }
  mutating func beginFlush() { (isFlushing, unflushed) = (true, 0) }

  /// A flush has failed: only `ranges` are there.
  /// - Parameter isAgain: whether the journal is to say so once there is room.
  mutating func notFlushed(present ranges: ByteRanges, isAgain: Bool) {
    isFlushing = false
    setPresent(ranges)
    if isAgain { unflushed = max(received, 1) }
  }

  /// Whether readers see all of `range` that the file has: they see whole blocks.
  func shows(_ range: Range<Int64>) -> Bool {
    let file = 0..<(shownTotal ?? .max)
    return present.contains(Limits.blocks(of: range.clamped(to: file)).clamped(to: file))
  }
}
