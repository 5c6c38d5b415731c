import PosixKit
import Testing

@Suite struct ParallelMapTests {
  @Test("Many are done by two threads at once, in order", arguments: [0, 1, 511, 512, 10_001])
  func many(count: Int) {
    let results = Array(0..<count).parallelMap { (value: $0 * 2, thread: PosixThread.currentID) }
    #expect(results.map(\.value) == (0..<count).map { $0 * 2 })
    #expect(Set(results.map(\.thread)).count <= 2)
  }
}
