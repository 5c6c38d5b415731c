import Testing

@testable import PodcastTree

/// Who looks into a podcast may open an episode next; who goes through all of them hardly does.
@Suite struct LooksTests {
  private var looks = Looks()

  @Test mutating func aLookOrTwoAreSomebodys() {
    let (first, second) = (NodeID(.subscription, 1), NodeID(.subscription, 2))
    #expect(looks.note(first) == true)
    // Listed again and again, as file managers do.
    for _ in 0..<10 { #expect(looks.note(first) == false) }
    #expect(looks.note(second) == false)
    #expect(looks.take() == true)
    #expect(looks.take() == false)
    #expect(looks.note(second) == true)
  }

  @Test mutating func aWalkIsNobodys() {
    let moments = (1...200).map { looks.note(NodeID(.subscription, $0)) }
    #expect(moments == [true] + Array(repeating: false, count: 199))
    #expect(looks.take() == false)
    // Who looks into one of them afterwards is somebody again.
    #expect(looks.note(NodeID(.subscription, 200)) == true)
    #expect(looks.take() == true)
  }
}
