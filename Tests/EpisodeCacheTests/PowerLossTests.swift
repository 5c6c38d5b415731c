import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// What counts as being on the disk is there when the power has gone: nothing but fdatasync(2) sees to that.
@Suite(.enabled(if: TestDisk.isPossible, "\(TestDisk.requirement)")) struct PowerLossTests {
  private let body = TestBody(seed: 5, size: 9_000_000)

  /// - Parameter step: as much is written at once, and brought to the disk after each but the last.
  @Test(arguments: [1_000_000, 3_000_000] as [Int64]) func whatTheJournalHasIsThere(step: Int64) throws {
    let disk = try TestDisk()
    let world = try CacheWorld(on: disk)
    let flushed = (body.size / step - 1) * step
    do {
      let writer = try world.writer(body.size)
      for start in stride(from: 0, to: flushed, by: Int64.Stride(step)) {
        try world.write(body, start..<start + step, writer)
        try writer.synchronize()
      }
      try world.write(body, flushed..<body.size, writer)
    }
    try disk.losePower()
    // The map was of the run before.
    unlink(world.layout.map(world.key, 1))
    do {
      let reader = try EpisodeReader(world.layout, world.key, 1)
      #expect(reader.total == body.size)
      #expect(reader.contains(0..<flushed), "\(reader.received)")
      #expect(world.read(reader, 0..<reader.received) == body.bytes(0..<reader.received))
      let check = try GenerationCheck(world.layout, world.key, 1)
      #expect(check.damaged.isEmpty)
    }
    // It goes on from there.
    do {
      let writer = try EpisodeWriter(continuing: world.layout, world.key, 1)
      for gap in writer.present.missing(in: 0..<body.size) { try world.write(body, gap, writer) }
      try writer.synchronize()
      writer.removeMap()
    }
    try disk.losePower()
    let whole = try EpisodeReader(world.layout, world.key, 1)
    #expect(whole.isWhole)
    #expect(world.read(whole, 0..<body.size) == body.bytes(0..<body.size))
  }
}
