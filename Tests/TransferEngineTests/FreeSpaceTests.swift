import Testing

@testable import TransferEngine

@Suite struct FreeSpaceTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func looks(_ space: inout FreeSpace, _ available: Int64) {
    let (isNew, isCurrent) = (space.look(), space.looked(available, at: now))
    #expect(isNew && isCurrent)
  }

  @Test func aPieceTakesWholeBlocks() {
    #expect(FreeSpace.cost(of: 0..<0) == 0)
    #expect(FreeSpace.cost(of: 0..<1) == 4096)
    #expect(FreeSpace.cost(of: 4095..<4097) == 8192)
    #expect(FreeSpace.cost(of: 4096..<8192) == 4096)
  }

  @Test func whatIsOnItsWayCountsAsUsedThoughALookMayHaveMissedIt() {
    var space = FreeSpace()
    looks(&space, 100 << 12)
    space.take(0..<10 << 12)
    #expect(space.left == 90 << 12)
    // Asked for while ten blocks are on their way; three more go while it looks.
    _ = space.look()
    space.take(10 << 12..<13 << 12)
    space.answered(0..<10 << 12)
    _ = space.looked(95 << 12, at: now)
    #expect(space.left == 82 << 12)
    // The next one sees the ten.
    _ = space.look()
    space.answered(10 << 12..<13 << 12)
    _ = space.looked(87 << 12, at: now)
    #expect(space.left == 84 << 12)
    looks(&space, 87 << 12)
    #expect(space.left == 87 << 12)
    #expect(space.onTheWay == 0)
  }

  @Test func onlyOneLooksAtATime() {
    var space = FreeSpace()
    let (first, second) = (space.look(), space.look())
    #expect(first)
    #expect(!second)
  }

  @Test func aLookThatBeganBeforeRoomWasMadeIsNotBelieved() {
    var space = FreeSpace()
    _ = space.look()
    space.outdate()
    let isCurrent = space.looked(1 << 20, at: now)
    #expect(!isCurrent)
    #expect(!space.isFresh(at: now))
    looks(&space, 2 << 20)
    #expect(space.isFresh(at: now))
    #expect(!space.isFresh(at: now.adding(0.6)))
  }
}
