import TestSupport
import Testing

@Suite struct TestBodyTests {
  @Test func everyPartOfABodyHasTheBytesOfTheWhole() {
    let body = TestBody(seed: 7, size: 1003)
    let whole = body.bytes
    #expect(whole.count == 1003)
    #expect((0..<1003).allSatisfy { whole[$0] == body.byte(at: Int64($0)) })
    for range in [0..<1, 5..<5, 7..<9, 8..<16, 1..<1003, 995..<1003] as [Range<Int64>] {
      #expect(body.bytes(range) == Array(whole[Int(range.lowerBound)..<Int(range.upperBound)]))
    }
    #expect(body.bytes(1000..<5000).count == 3)
    #expect(TestBody(seed: 8, size: 1003).bytes != whole)
  }

  @Test func theFirstDifferenceIsFound() {
    let body = TestBody(seed: 7, size: 1000)
    var bytes = body.bytes(100..<900)
    #expect(body.firstDifference(bytes, at: 100) == nil)
    bytes[50] ^= 1
    bytes[60] ^= 1
    #expect(body.firstDifference(bytes, at: 100) == 150)
    #expect(body.firstDifference(body.bytes + [0]) == 1000)
    #expect(body.firstDifference(body.bytes(0..<10), at: 1) == 1)
  }
}
