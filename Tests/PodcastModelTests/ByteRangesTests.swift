import PodcastModel
import TestSupport
import Testing

@Suite struct ByteRangesTests {
  /// A set of offsets, slow and plainly right.
  private func offsets(_ ranges: ByteRanges) -> Set<Int64> { Set(ranges.ranges.flatMap { Array($0) }) }

  @Test func rangesAreJoinedWhereTheyTouch() {
    var ranges = ByteRanges([10..<20, 30..<40])
    ranges.insert(20..<30)
    #expect(ranges.ranges == [10..<40])
    ranges.insert(5..<5)
    #expect(ranges.ranges == [10..<40])
    #expect(ranges.count == 30)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func itIsTheSetOfItsOffsets(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ranges = ByteRanges()
    var model: Set<Int64> = []
    for _ in 0..<60 {
      let lower = Int64.random(in: 0..<200, using: &random)
      let range = lower..<lower + Int64.random(in: 0..<12, using: &random)
      if Int.random(in: 0..<10, using: &random) == 0 {
        ranges.truncate(at: lower)
        model = model.filter { $0 < lower }
      } else {
        ranges.insert(range)
        model.formUnion(range)
      }
      #expect(offsets(ranges) == model)
      #expect(ranges.count == Int64(model.count))
      // Sorted, not empty, and apart.
      #expect(ranges.ranges.allSatisfy { !$0.isEmpty })
      #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })

      let start = Int64.random(in: 0..<210, using: &random)
      let asked = start..<start + Int64.random(in: 0..<30, using: &random)
      #expect(ranges.contains(asked) == model.isSuperset(of: asked))
      #expect(ranges.contains(start) == model.contains(start))
      #expect(Set(ranges.missing(in: asked).flatMap { Array($0) }) == Set(asked).subtracting(model))
      #expect(ranges.firstMissing(from: start) == (start...).first { !model.contains($0) })
      #expect(
        ranges.run(from: start)?.lowerBound == ranges.ranges.first { $0.lowerBound >= start }?.lowerBound)
      if !model.contains(start) {
        let hole = ranges.hole(around: start)
        #expect(hole.contains(start))
        #expect(!model.contains { hole.contains($0) })
        #expect(hole.lowerBound == 0 || model.contains(hole.lowerBound - 1))
        #expect(hole.upperBound == .max || model.contains(hole.upperBound))
      }
    }
  }
}
