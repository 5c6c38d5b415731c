import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// A complete file is known by its name alone.
@Suite struct WholeFileTests {
  let world: CacheWorld
  let body = TestBody(seed: 17, size: 3_500_000)

  init() throws { world = try CacheWorld() }

  private var key: MediaKey { world.key }
  private var layout: CacheLayout { world.layout }

  @Test func aFileGetsItsNameWhenAllOfItIsOnTheDisk() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<3_000_000, writer)
    try writer.synchronize()
    #expect(!layout.isWhole(key, 1) && layout.hasData(key, 1))
    try world.write(body, 3_000_000..<body.size, writer)
    #expect(!layout.isWhole(key, 1))
    let early = try EpisodeReader(layout, key, 1)
    try writer.synchronize()
    #expect(layout.isWhole(key, 1) && access(layout.part(key, 1), F_OK) != 0)
    writer.removeMap()
    // Without the journal, too.
    unlink(layout.journal(key, 1))
    let late = try EpisodeReader(layout, key, 1)
    for reader in [early, late] {
      #expect(reader.isWhole && world.read(reader, 0..<body.size) == body.bytes)
    }
    #expect(layout.sweep().found.map(\.size) == [body.size])
  }

  @Test func aLostJournalOfAWholeFileIsMadeAgain() throws {
    try world.store(body)
    unlink(layout.journal(key, 1))
    let writer = try EpisodeWriter(continuing: layout, key, 1)
    #expect(writer.isComplete && writer.representation.total == body.size)
  }

  /// A map whose number the journal does not have is of another file.
  @Test func aMapOfAnotherFileIsNotBelieved() throws {
    do {
      let writer = try world.writer(body.size)
      try world.write(body, 0..<1_000_000, writer)
      try writer.synchronize()
      try world.write(body, 1_000_000..<2_000_000, writer)
    }
    let map = try Directories.read(layout.map(key, 1))
    layout.remove(key, 1)
    do {
      let writer = try world.writer(body.size)
      try world.write(body, 0..<500_000, writer)
      try writer.synchronize()
    }
    try world.overwrite(layout.map(key, 1), map)
    #expect(!(try EpisodeReader(layout, key, 1).isLive))
    #expect(try EpisodeWriter(continuing: layout, key, 1).present.ranges == [0..<500_000])
  }

  @Test func whatAKilledDaemonLeftIsSweptAway() throws {
    try world.store(body)
    let stray = layout.whole(MediaKey(address: "http://example.org/b.mp3"), 7) + ".ranges"
    try Directories.replace(stray, with: [1, 2, 3])
    #expect(layout.sweep().found.count == 1)
    let known = layout.sweep(besides: [key: 1])
    #expect(known.found.isEmpty && known.expected == [key])
    #expect(layout.sweep(besides: [key: 2]).found.count == 1)
    #expect(access(stray, F_OK) != 0 && access(layout.journal(key, 1), F_OK) == 0)
  }

  enum Meddling: CaseIterable { case deleted, replaced, cutShort }

  /// Somebody restores an old copy of the cache while the file comes.
  @Test(arguments: Meddling.allCases) func anotherFileInItsPlaceNeverGetsItsName(meddling: Meddling) throws {
    let writer = try world.writer(body.size)
    let part = layout.part(key, 1)
    try world.write(body, 0..<2_000_000, writer)
    try writer.synchronize()
    #expect(writer.isInPlace)
    try world.write(body, 2_000_000..<body.size, writer)
    switch meddling {
    case .deleted: unlink(part)
    case .replaced: try Directories.replace(part, with: body.bytes)
    case .cutShort: try world.overwrite(part, body.bytes.dropLast(1_000_000))
    }
    #expect(!writer.isInPlace)
    try writer.synchronize()
    #expect(!layout.isWhole(key, 1) && !writer.isInPlace)
  }

  @Test func aFileThatIsReplacedOnceItHasItsNameIsNotInPlace() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<body.size, writer)
    try writer.synchronize()
    #expect(layout.isWhole(key, 1) && writer.isInPlace)
    try Directories.replace(layout.whole(key, 1), with: [1, 2, 3])
    #expect(!writer.isInPlace)
  }

  /// A journal names the address, a live map the episode: neither may stay behind what is forgotten.
  @Test func aJournalOrMapThatCannotBeRemovedRefusesTheRemoval() throws {
    for path in [layout.journal(key, 1), layout.map(key, 1)] {
      try world.store(body, removesMap: false)
      unlink(path)
      try Directories.createPrivate(path)
      #expect(layout.remove(key, 1) != nil)
      rmdir(path)
      #expect(layout.remove(key, 1) == nil)
    }
  }

  @Test func whatHasNoDataAnyMoreIsEvictedThoughItsJournalStays() throws {
    try world.store(body)
    unlink(layout.journal(key, 1))
    try Directories.createPrivate(layout.journal(key, 1))
    #expect(layout.evict(key, 1) && !layout.hasData(key, 1))
  }
}
