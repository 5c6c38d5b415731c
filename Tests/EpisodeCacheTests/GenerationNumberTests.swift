import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// A number is given to the bytes of one representation, whatever is lost.
@Suite struct GenerationNumberTests {
  let world: CacheWorld

  init() throws { world = try CacheWorld() }

  private func begin(above: UInt32, tag: String = "\"a\"", total: Int64 = 100) throws -> EpisodeWriter {
    try EpisodeWriter.begin(
      world.layout, world.key, above: above, CacheWorld.representation(total, tag: tag))
  }

  @Test func afterADropAndAKillOtherBytesGetAnotherNumber() throws {
    let first = try begin(above: 0)
    #expect(first.generation == 1)
    world.layout.drop(world.key, 1)
    // The store never heard of it.
    let second = try begin(above: 0, tag: "\"b\"")
    #expect(second.generation == 2)
    #expect(world.layout.former(world.key) == nil)
    #expect(world.layout.evict(world.key, 2))
    #expect(try begin(above: 0, tag: "\"c\"").generation == 3)
  }

  @Test func theSameFileAgainKeepsItsNumber() throws {
    _ = try begin(above: 0)
    world.layout.drop(world.key, 1)
    #expect(try begin(above: 1).generation == 1)
    world.layout.drop(world.key, 1)
    #expect(try begin(above: 1, total: 101).generation == 2)
  }

  @Test func whatCanNotBeToldApartIsNotTheSame() throws {
    _ = try EpisodeWriter.begin(world.layout, world.key, above: 0, Representation(total: 100))
    world.layout.drop(world.key, 1)
    #expect(
      try EpisodeWriter.begin(world.layout, world.key, above: 1, Representation(total: 100)).generation == 2)
  }

  /// Only a strong entity tag says that it is the same.
  @Test func whereTheServerTellsNoSizeThatOfTheSameFileStaysKnown() throws {
    func again(_ representation: Representation) throws -> EpisodeWriter {
      try EpisodeWriter.begin(world.layout, world.key, above: 1, representation)
    }
    _ = try begin(above: 0)
    world.layout.drop(world.key, 1)
    let same = try again(CacheWorld.representation(nil))
    #expect(same.generation == 1 && same.representation.total == 100)
    world.layout.drop(world.key, 1)
    let other = try again(CacheWorld.representation(nil, tag: "\"b\""))
    #expect(other.generation == 2 && other.representation.total == nil)
    world.layout.drop(world.key, 2)
    #expect(
      try again(Representation(lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")).representation.total == nil)
  }

  @Test func aNumberThatAStrangerUsesIsPassedOver() throws {
    _ = try begin(above: 0)
    #expect(try begin(above: 0, tag: "\"b\"").generation == 2)
    world.layout.drop(world.key, 2)
    world.layout.drop(world.key, 1)
    #expect(try begin(above: 0, tag: "\"c\"").generation == 3)
  }

  @Test func numbersOfLongAgoAreForgotten() throws {
    _ = try begin(above: 0)
    world.layout.drop(world.key, 1)
    world.layout.forgetFormer(olderThan: 60, now: wallClockSeconds())
    #expect(world.layout.former(world.key)?.number == 1)
    world.layout.forgetFormer(olderThan: 60, now: wallClockSeconds() + 120)
    #expect(world.layout.former(world.key) == nil)
  }
}
