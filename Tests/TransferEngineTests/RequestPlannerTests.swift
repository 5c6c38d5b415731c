import PodcastModel
import Testing

@testable import TransferEngine

/// The cheapest way to what is missing.
@Suite struct RequestPlannerTests {
  private func ranges(_ planner: RequestPlanner, _ waits: [Range<Int64>] = []) -> [String] {
    planner.requests(for: waits).map {
      "\($0.lowerBound)-\($0.upperBound == .max ? "" : "\($0.upperBound - 1)")"
    }
  }

  @Test func nothingStoredAndNothingKnownIsAskedForWhole() {
    #expect(ranges(RequestPlanner(have: ByteRanges(), total: nil)) == ["0-"])
  }

  @Test func aResumeAsksForTheRest() {
    #expect(ranges(RequestPlanner(have: ByteRanges([0..<700]), total: 1000)) == ["700-"])
  }

  @Test func holesAreFilledFromWhereTheReaderIs() {
    let have = ByteRanges([0..<1000, 5000..<6000, 8000..<9000])
    #expect(ranges(RequestPlanner(have: have, total: 10_000)) == ["1000-4999"])
    #expect(ranges(RequestPlanner(have: have, total: 10_000, focus: 5500)) == ["6000-7999"])
    #expect(ranges(RequestPlanner(have: have, total: 10_000, focus: 8500)) == ["9000-"])
  }

  @Test func whatTheRunningResponseBringsSoonIsWaitedFor() {
    let planner = RequestPlanner(
      have: ByteRanges([0..<100_000]), total: 50 << 20, running: [.init(position: 100_000, end: nil)])
    #expect(ranges(planner, [500_000..<600_000]).isEmpty)
    #expect(ranges(planner, [1_148_576..<1_148_580]).isEmpty)
    #expect(ranges(planner, [1_200_000..<1_200_010]) == ["1196032-2244607"])
  }

  /// A response was given up amid a block: readers do not see that part.
  @Test func aByteInABlockThatIsNotWholeIsWaitedFor() {
    let half = RequestPlanner(have: ByteRanges([0..<2000]), total: 1 << 20, wantsWhole: false)
    #expect(ranges(half, [0..<1]) == ["2000-4095"])
    let end = RequestPlanner(have: ByteRanges([0..<5000]), total: 5000, wantsWhole: false)
    #expect(ranges(end, [4999..<5000]).isEmpty)
  }

  @Test func aBoundedResponseCoversOnlyItsRange() {
    let planner = RequestPlanner(
      have: ByteRanges(), total: 50 << 20, running: [.init(position: 0, end: 8192)])
    #expect(ranges(planner, [4096..<8192]).isEmpty)
    #expect(ranges(planner, [8192..<12_288]).count == 1)
  }

  @Test func aSeekBesideAnotherResponseAsksForAWindowThatGrows() {
    let running = [RequestPlanner.Running(position: 0, end: nil)]
    let far: Int64 = 20 << 20
    let first = RequestPlanner(have: ByteRanges(), total: 100 << 20, running: running)
    #expect(ranges(first, [far..<far + 4096]) == ["\(far)-\(far + (1 << 20) - 1)"])
    let next = RequestPlanner(
      have: ByteRanges([far..<far + (4 << 20)]), total: 100 << 20, running: running)
    let request = next.requests(for: [far + (4 << 20)..<far + (5 << 20)]).first
    #expect(request?.length == 8 << 20)
  }

  @Test func aRequestEndsWhereSomethingIsStoredOrComes() {
    let have = ByteRanges([40_960..<2_000_000])
    #expect(ranges(RequestPlanner(have: have, total: 3_000_000), [0..<4096]) == ["0-40959"])
    let running = [RequestPlanner.Running(position: 8192, end: nil)]
    let beside = RequestPlanner(have: ByteRanges(), total: 3_000_000, running: running)
    #expect(ranges(beside, [0..<4096]) == ["0-8191"])
  }

  @Test func aSmallIslandIsReadThrough() {
    let have = ByteRanges([40_960..<50_000])
    #expect(ranges(RequestPlanner(have: have, total: 3_000_000), [0..<4096]) == ["0-"])
  }

  @Test func withoutRangesOneResponseFeedsAll() {
    let idle = RequestPlanner(have: ByteRanges([0..<500]), total: 5_000_000, canSeek: false)
    #expect(ranges(idle, [3_000_000..<3_000_010]) == ["500-"])
    let running = RequestPlanner(
      have: ByteRanges([0..<500]), total: 5_000_000, running: [.init(position: 500, end: nil)],
      canSeek: false)
    #expect(ranges(running, [3_000_000..<3_000_010]).isEmpty)
  }

  @Test func whoMayOnlyFetchGetsTheBlocksOfWhatIsAsked() {
    let planner = RequestPlanner(have: ByteRanges(), total: 1_000_000, wantsWhole: false)
    #expect(ranges(planner, [5000..<5100]) == ["4096-8191"])
    #expect(ranges(planner).isEmpty)
    #expect(ranges(planner, [999_990..<1_000_100]) == ["999424-"])
  }

  @Test func noMoreResponsesThanTheMost() {
    let planner = RequestPlanner(have: ByteRanges(), total: 1 << 30)
    let waits = (0..<10).map { Int64($0) * (64 << 20)..<Int64($0) * (64 << 20) + 4096 }
    #expect(planner.requests(for: waits).count == RequestPlanner.most)
  }

  /// Whoever else keeps coming, and wherever.
  @Test func whoHasWaitedLongestIsServedFirst() {
    let running = (0..<3).map { index in
      RequestPlanner.Running(position: Int64(index) << 20, end: Int64(index) << 20 + 65_536)
    }
    let planner = RequestPlanner(have: ByteRanges(), total: 1 << 30, running: running)
    let (oldest, others): (Int64, [Int64]) = (800 << 20, [100 << 20, 40 << 20])
    let waits = ([oldest] + others).map { $0..<$0 + 4096 }
    #expect(planner.requests(for: waits).map(\.lowerBound) == [oldest])
  }

  @Test func aSlowResponseIsWaitedForOnlyByWhoReadsOn() {
    let slow = RequestPlanner.Running(position: 200_000, end: nil, rate: 50_000)
    let planner = RequestPlanner(have: ByteRanges([0..<200_000]), total: 10_000_000, running: [slow])
    #expect(planner.requests(for: [600_000..<604_096]).map(\.lowerBound) == [598_016])
    #expect(planner.requests(for: [200_704..<331_776, 331_776..<462_848, 462_848..<600_000]).isEmpty)
    let fast = RequestPlanner.Running(position: 200_000, end: nil, rate: 2_000_000)
    let other = RequestPlanner(have: ByteRanges([0..<200_000]), total: 10_000_000, running: [fast])
    #expect(other.requests(for: [600_000..<604_096]).isEmpty)
  }

  @Test func aPlayerDoesNotWaitForWhatLiesBeforeThePlaceThatItLooksAt() {
    let slow = RequestPlanner.Running(position: 4096, arrived: 6000, end: .max, rate: 16_000)
    let planner = RequestPlanner(have: ByteRanges([0..<4096]), total: 10_000_000, running: [slow])
    #expect(ranges(planner, [32_768..<32_769]) == ["32768-1081343"])
    // What is left behind it is not worth another request.
    #expect(ranges(planner, [2_000_000..<2_000_001]) == ["1998848-"])
    #expect(ranges(planner, [9000..<9001]).isEmpty)
    // Who reads on through the kernel's pages waits for what lies between.
    #expect(ranges(planner, [32_768..<65_536]).isEmpty)
    for rate in [nil, Int64(500_000)] {
      let flow = RequestPlanner.Running(position: 4096, end: nil, rate: rate)
      let other = RequestPlanner(have: ByteRanges([0..<4096]), total: 10_000_000, running: [flow])
      #expect(ranges(other, [32_768..<32_769]).isEmpty)
    }
  }

  @Test func anIslandThatAResponseMakesGrowIsNotReadInto() {
    let running = [RequestPlanner.Running(position: 860_160, end: nil)]
    let have = ByteRanges([0..<700_000, 800_000..<880_000])
    let planner = RequestPlanner(have: have, total: 3_000_000, running: running)
    #expect(ranges(planner, [700_000..<720_000]) == ["700000-799999"])
  }
}

extension RequestPlanner.Running {
  /// - Parameter end: nil for the file's.
  fileprivate init(position: Int64, end: Int64?, rate: Int64? = nil) {
    self.init(position: position, arrived: position, end: end ?? .max, rate: rate)
  }
}
