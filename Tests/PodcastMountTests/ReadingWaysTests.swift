import PodcastTree
import Testing

@testable import PodcastMount

/// The kernel reads all that is open of a node in one way.
@Suite struct ReadingWaysTests {
  private var ways = ReadingWays()
  private let node = NodeID(.episode, 1)

  @Test mutating func whatIsLentIsReadSoByAllUntilTheLastOneCloses() {
    #expect(ways.open(node, isDirect: false) { 7 } == .backed(7))
    // Also who is to be read past the pages, and where another file would be lent.
    #expect(ways.open(node, isDirect: true) { nil } == .backed(7))
    #expect(ways.open(node, isDirect: false) { 8 } == .backed(7))
    #expect(ways.close(node, .backed(7)) == nil)
    #expect(ways.close(node, .backed(7)) == nil)
    #expect(ways.close(node, .backed(7)) == 7)
    #expect(ways.open(node, isDirect: false) { 8 } == .backed(8))
  }

  @Test mutating func nothingIsLentWhileSomebodyReadsThePages() {
    #expect(ways.open(node, isDirect: false) { nil } == .pages)
    #expect(ways.open(node, isDirect: false) { 7 } == .pages)
    #expect(ways.open(NodeID(.episode, 2), isDirect: false) { 8 } == .backed(8))
    #expect(ways.open(node, isDirect: true) { 7 } == .direct)
    #expect(ways.close(node, .direct) == nil)
    #expect(ways.close(node, .pages) == nil)
    #expect(ways.open(node, isDirect: false) { 7 } == .pages)
    #expect(ways.close(node, .pages) == nil && ways.close(node, .pages) == nil)
    #expect(ways.open(node, isDirect: false) { 7 } == .backed(7))
  }

  /// What is open past the pages goes along with either way.
  @Test mutating func aDirectReaderKeepsNobodyFromAFile() {
    #expect(ways.open(node, isDirect: true) { 7 } == .direct)
    #expect(ways.open(node, isDirect: false) { 7 } == .backed(7))
    #expect(ways.close(node, .direct) == nil)
    #expect(ways.close(node, .backed(7)) == 7)
  }

  @Test mutating func whatAProcessBeforeHasLentGoesOn() {
    ways.inherit(node, .backed(5))
    ways.inherit(node, .backed(5))
    #expect(ways.open(node, isDirect: false) { 7 } == .backed(5))
    #expect(ways.close(node, .backed(5)) == nil && ways.close(node, .backed(5)) == nil)
    #expect(ways.close(node, .backed(5)) == 5)
    ways.inherit(node, .pages)
    #expect(ways.open(node, isDirect: false) { 7 } == .pages)
  }
}
