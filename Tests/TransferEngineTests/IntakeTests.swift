import PodcastModel
import Testing

@testable import TransferEngine

/// Where a response's bytes go.
@Suite struct IntakeTests {
  private static let block = Limits.block
  private static let large = Limits.alignment
  private static let largest = Limits.largestWrite

  private static func intake(
    at position: Int64 = 0, agreeing: Int64 = 0, mayStop: Bool = false, with count: Int64
  ) -> Intake {
    var intake = Intake(at: position, agreeing: agreeing, mayStop: mayStop)
    _ = intake.came(count)
    return intake
  }

  private func next(
    _ intake: inout Intake, stored: ByteRanges = ByteRanges(), total: Int64? = 100_000_000,
    _ urgency: Intake.Urgency = .none
  ) -> Intake.Step? {
    intake.next(stored: stored, total: total, urgency)
  }

  @Test func littleIsHeldUntilSomebodyWaits() {
    var intake = Self.intake(with: 3 * Self.block + 17)
    #expect(next(&intake) == nil)
    #expect(intake.held == 3 * Self.block + 17)
    // In whole blocks, which readers see.
    #expect(next(&intake, .waited) == .write(0..<3 * Self.block))
    #expect(next(&intake, .waited) == nil)
    #expect(intake.held == 3 * Self.block + 17 && intake.inFlight == 3 * Self.block)
  }

  @Test func whatIsTheLastIsWritten() {
    var intake = Self.intake(with: 17)
    #expect(next(&intake, .all) == .write(0..<17))
    #expect(next(&intake, .all) == nil)
  }

  @Test func piecesAreLargeAndAtTheirPlaces() {
    var intake = Self.intake(at: 100, with: 3 * Self.largest)
    #expect(next(&intake) == .write(100..<Self.largest))
    #expect(next(&intake) == .write(Self.largest..<2 * Self.largest))
    #expect(next(&intake) == .write(2 * Self.largest..<3 * Self.largest))
    #expect(next(&intake) == nil)
    _ = intake.came(Self.large)
    #expect(next(&intake) == .write(3 * Self.largest..<3 * Self.largest + Self.large))
  }

  /// Also what is on its way to the disk is held: a slow disk slows down its host.
  @Test func whatIsHeldIsWhatIsNotWritten() {
    var intake = Self.intake(with: Self.largest)
    #expect(next(&intake) == .write(0..<Self.largest))
    #expect(intake.held == Self.largest && intake.inFlight == Self.largest)
    intake.wrote(0..<Self.largest)
    #expect(intake.held == 0 && intake.position == Self.largest)
  }

  @Test func whatIsStoredIsComparedNotWritten() {
    var intake = Self.intake(with: 90_000)
    let stored = ByteRanges([10_000..<50_000])
    // Up to there, however little it is.
    #expect(next(&intake, stored: stored) == .write(0..<10_000))
    #expect(next(&intake, stored: stored) == .compare(10_000..<50_000))
    // Nothing more before the disk has answered.
    #expect(next(&intake, stored: stored, .all) == nil)
    let (isSame, isShown) = intake.compared(10_000..<50_000, agreed: 40_000)
    #expect(isSame && !isShown)
    #expect(next(&intake, stored: stored, .all) == .write(50_000..<90_000))
  }

  @Test func oneByteThatDiffersIsEnough() {
    var intake = Self.intake(with: 50_000)
    #expect(next(&intake, stored: ByteRanges([0..<50_000])) == .compare(0..<50_000))
    #expect(intake.compared(0..<50_000, agreed: 49_999).isSame == false)
  }

  /// An overlap must agree as a whole before anything behind it is written.
  @Test func anOverlapComesFirst() {
    let stored = ByteRanges([0..<20_000])
    var intake = Self.intake(at: 10_000, agreeing: 10_000, with: 4000)
    #expect(next(&intake, stored: stored) == .compare(10_000..<14_000))
    let first = intake.compared(10_000..<14_000, agreed: 4000)
    #expect(first.isSame && !first.isShown)
    _ = intake.came(30_000)
    #expect(next(&intake, stored: stored) == .compare(14_000..<20_000))
    let second = intake.compared(14_000..<20_000, agreed: 6000)
    #expect(second.isSame && second.isShown)
    #expect(next(&intake, stored: stored, .all) == .write(20_000..<44_000))
  }

  /// What was to agree is stored no more: its bytes can't be told from another file's.
  @Test func anOverlapWithNothingDiffers() {
    var intake = Self.intake(at: 10_000, agreeing: 10_000, with: 30_000)
    #expect(next(&intake, stored: ByteRanges([0..<10_000])) == .tooFewStored)
    #expect(next(&intake, stored: ByteRanges([0..<10_000]), .all) == .tooFewStored)
  }

  @Test func aRestThatIsStoredIsNotAskedForFurther() {
    var intake = Self.intake(at: 30_000, with: 5000)
    #expect(next(&intake, stored: ByteRanges([30_000..<100_000]), total: 100_000) == .reachedStored)
  }

  @Test func anIslandIsReadThroughAndALargeRunIsSkipped() {
    let large = ByteRanges([0..<Intake.island + 1])
    var small = Self.intake(mayStop: true, with: 5000)
    #expect(next(&small, stored: ByteRanges([0..<Intake.island])) == .compare(0..<5000))
    var skips = Self.intake(mayStop: true, with: 5000)
    #expect(next(&skips, stored: large) == .reachedStored)
    // However small: another response goes on there.
    var follows = Self.intake(mayStop: true, with: 5000)
    #expect(follows.next(stored: ByteRanges([0..<9000]), total: nil, .none, fed: [9000]) == .reachedStored)
    // Where no other request can begin behind it, there is no choice.
    var bound = Self.intake(mayStop: false, with: 5000)
    #expect(next(&bound, stored: large) == .compare(0..<5000))
  }

  /// Whatever comes, in whatever pieces: each byte is written or compared once, in order.
  @Test func eachByteGoesToTheDiskOnce() {
    var random = SplitMix(seed: 3)
    for _ in 0..<300 {
      let total: Int64 = 3_000_000
      var stored = ByteRanges()
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let start = Int64.random(in: 0..<total, using: &random)
        stored.insert(start..<min(start + Int64.random(in: 1...400_000, using: &random), total))
      }
      var intake = Intake(at: 0, mayStop: false)
      var at: Int64 = 0
      var hasEnded = false
      while !hasEnded {
        _ = intake.came(min(Int64.random(in: 1...900_000, using: &random), total - intake.arrived))
        let urgency: Intake.Urgency = intake.arrived == total ? .all : .none
        while !hasEnded, let step = intake.next(stored: stored, total: total, urgency) {
          switch step {
          case .write(let range):
            #expect(
              range.lowerBound == at && stored.missing(in: range).reduce(0) { $0 + $1.length } == range.length
            )
            stored.insert(range)
            intake.wrote(range)
            at = range.upperBound
          case .compare(let range):
            #expect(range.lowerBound == at && stored.contains(range))
            _ = intake.compared(range, agreed: range.length)
            at = range.upperBound
          case .reachedStored:
            #expect(stored.contains(at..<total))
            hasEnded = true
          case .tooFewStored: Issue.record("nothing was to agree")
          }
        }
        if at == total { hasEnded = true }
      }
      #expect(stored.contains(0..<total))
    }
  }
}
