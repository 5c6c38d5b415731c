import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// The daemon was killed, then its data file was overwritten and its journal has lost its end: what is given is right
/// all the same, and nothing gets a checksum from what happens to lie on the disk.
@Suite struct LostJournalTests {
  enum Loss: CaseIterable {
    /// The file ends there.
    case cut
    /// It has its length, and zeros from there on.
    case zeroed
  }

  enum Map: CaseIterable {
    /// As a killed daemon leaves it.
    case left
    case gone
  }

  private let body = TestBody(seed: 61, size: 7_300_000)

  /// Pieces as they come, each brought to the disk; some out of order, beginning anywhere in a MiB.
  private let whole: [Range<Int64>] = [
    0..<1_500_000, 1_500_000..<2_300_000, 5_500_000..<6_900_000, 2_300_000..<4_000_000, 6_900_000..<7_300_000,
    4_000_000..<5_500_000,
  ]

  private func store(_ pieces: ArraySlice<Range<Int64>>, in world: CacheWorld) throws {
    let writer = try world.writer(body.size)
    for piece in pieces {
      try world.write(body, piece, writer)
      try writer.synchronize()
    }
  }

  /// What lies in a file there.
  private func bytes(_ range: Range<Int64>, of path: String) throws -> [UInt8] {
    let file = try FileDescriptor(opening: path, O_RDONLY)
    var buffer = [UInt8](repeating: 0, count: range.count)
    let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
    return Array(buffer.prefix(count))
  }

  private func lose(_ part: Int, of path: String, _ loss: Loss) throws {
    let journal = try Directories.read(path)
    let kept = journal.count * part / 20
    let file = try FileDescriptor(opening: path, O_WRONLY)
    switch loss {
    case .cut: try file.truncate(to: Int64(kept))
    case .zeroed: try file.write([UInt8](repeating: 0, count: journal.count - kept), at: Int64(kept))
    }
  }

  private func zero(_ range: Range<Int64>, of path: String) throws {
    let file = try FileDescriptor(opening: path, O_WRONLY)
    try file.write([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
  }

  @Test(arguments: Loss.allCases, Map.allCases) func nothingWrongIsRead(_ loss: Loss, _ map: Map) throws {
    for pieces in [whole[...], whole.prefix(3)] {
      for part in 0...20 {
        let world = try CacheWorld()
        let (data, journal) = (world.layout.data(world.key, 1), world.layout.journal(world.key, 1))
        try store(pieces, in: world)
        if map == .gone { unlink(world.layout.map(world.key, 1)) }
        try zero(500_000..<3_500_000, of: data)
        try zero(5_600_000..<6_500_000, of: data)
        try lose(part, of: journal, loss)
        try expectRight(world, "\(pieces.count) pieces, \(part) of 20 left")
      }
    }
  }

  /// Nor where the file's time tells of nothing but a moment: it was written to right after the daemon had died.
  @Test(arguments: Map.allCases) func noPieceThatHasNoSumIsBelieved(_ map: Map) throws {
    let world = try CacheWorld()
    let data = world.layout.data(world.key, 1)
    try store(whole.prefix(3), in: world)
    if map == .gone { unlink(world.layout.map(world.key, 1)) }
    try zero(5_500_000..<5_600_000, of: data)
    try expectRight(world, "a piece without a sum")
  }

  private func expectRight(_ world: CacheWorld, _ what: String) throws {
    let (layout, key) = (world.layout, world.key)
    if let reader = try? EpisodeReader(layout, key, 1) {
      for start in stride(from: Int64(0), to: body.size, by: 100_000) {
        let range = start..<min(start + 100_000, body.size)
        let isRight = world.read(reader, range).map { $0 == body.bytes(range) } ?? true
        #expect(isRight, "\(what): \(range)")
      }
    }
    guard let writer = try? EpisodeWriter(continuing: layout, key, 1) else { return }
    for run in writer.present.ranges {
      let isRight = try bytes(run, of: layout.data(key, 1)) == body.bytes(run)
      #expect(isRight, "\(what): \(run) is believed")
    }
    for gap in writer.present.missing(in: 0..<body.size) { try world.write(body, gap, writer) }
    try writer.synchronize()
    #expect(writer.isComplete)
    writer.removeMap()
    let isRight = try bytes(0..<body.size, of: layout.data(key, 1)) == body.bytes(0..<body.size)
    #expect(isRight, "\(what)")
    let check = try GenerationCheck(layout, key, 1)
    #expect(check.damaged.isEmpty && check.sound == body.size && check.unsummed == 0, "\(what)")
    let journal = RangeJournal(reading: layout.journal(key, 1))
    #expect(journal.durable.ranges == [0..<body.size] && journal.length > 0, "\(what)")
  }
}
