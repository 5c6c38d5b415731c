import PosixKit
import Testing

@testable import PodcastTree

/// Who looks into a podcast may open an episode next; who goes through all of them hardly does.
@Suite struct LooksTests {
  private var looks = Looks()
  private let begin = MonotonicTime(nanoseconds: 1_000_000_000)

  @Test mutating func aLookOrTwoAreSomebodys() {
    let (first, second) = (NodeID(.subscription, 1), NodeID(.subscription, 2))
    #expect(looks.note(first) == true)
    // Listed again and again, as file managers do.
    for _ in 0..<10 { #expect(looks.note(first) == false) }
    #expect(looks.note(second) == false)
    #expect(looks.take(at: begin) == true)
    #expect(looks.take(at: begin) == false)
    #expect(looks.note(second) == true)
  }

  @Test mutating func aWalkIsNobodys() {
    let moments = (1...200).map { looks.note(NodeID(.subscription, $0)) }
    #expect(moments == [true] + Array(repeating: false, count: 199))
    #expect(looks.take(at: begin) == false)
    // Nor are its last folders.
    #expect(looks.note(NodeID(.subscription, 201)) == true)
    #expect(looks.take(at: begin.adding(1)) == false)
    // Who looks into one of them afterwards is somebody again.
    #expect(looks.note(NodeID(.subscription, 200)) == true)
    #expect(looks.take(at: begin.adding(5)) == true)
  }
}
