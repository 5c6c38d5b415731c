import Configuration
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing

/// Transcripts that the user puts beside an episode.
@Suite struct OwnTranscriptTests {
  private static let stem = "2024-01-01 - Part 1"
  private let directory: TemporaryDirectory
  private let fixture: TreeFixture
  private let podcast: NodeID

  init() throws {
    directory = try TemporaryDirectory()
    fixture = try TreeFixture(cache: directory.path("cache"), data: directory.path("data"))
    fixture.fetcher.state.withLock { $0.files = ["http://media.example/t": Array("WEBVTT of the feed".utf8)] }
    fixture.feed.items[0].more = "<podcast:transcript url='http://media.example/t' type='text/vtt'/>"
    podcast = try fixture.searched()
    _ = try fixture.list(podcast)
  }

  private func write(_ text: [UInt8], _ file: any OpenFile) throws {
    defer { file.close() }
    for start in stride(from: 0, to: text.count, by: 1 << 20) {
      let piece = Array(text[start..<min(start + 1 << 20, text.count)])
      _ = try piece.withUnsafeBytes { try file.write(at: Int64(start), $0).get() }
    }
    try wait(file.flush())
  }

  private func create(_ name: String, _ text: String) throws {
    try write(Array(text.utf8), try wait(fixture.tree.create(name, in: podcast, for: fixture.me)).file)
  }

  private func read(_ name: String) throws -> String {
    let found = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me))
    let file = try wait(fixture.tree.open(found.node, writes: false, for: fixture.me))
    defer { file.close() }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBytes { try file.read(at: 0, into: $0)?.get() ?? -1 }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  @Test func itIsListedReadAndRemoved() throws {
    let name = "2024-01-02 - Part 2.srt"
    try create(name, "1\n00:00:01,000 --> 00:00:02,000\nFog.\n")
    #expect(try fixture.list(podcast).contains(name))
    #expect(try read(name).hasSuffix("Fog.\n"))
    #expect(try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me)).size == 37)
    #expect(try Directories.names(in: directory.path("data/transcripts")).count == 1)
    try wait(fixture.tree.remove(name, in: podcast, for: fixture.me))
    #expect(try !fixture.list(podcast).contains(name))
    #expect(try Directories.names(in: directory.path("data/transcripts")).isEmpty)
  }

  @Test func itTakesThePlaceOfTheFeedsUntilItIsRemoved() throws {
    let name = Self.stem + ".vtt"
    #expect(try read(name) == "WEBVTT of the feed")
    let feeds = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me))
    // cp(1) opens the file that is there, with O_TRUNC.
    try write(
      Array("my own".utf8),
      try wait(fixture.tree.open(feeds.node, writes: true, truncates: true, for: fixture.me)))
    let own = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me))
    #expect(own.node != feeds.node && own.size == 6)
    // Shorter, with O_TRUNC.
    try write(
      Array("mine".utf8),
      try wait(fixture.tree.open(own.node, writes: true, truncates: true, for: fixture.me)))
    #expect(try read(name) == "mine")
    try write(Array("my own".utf8), try wait(fixture.tree.open(own.node, writes: true, for: fixture.me)))
    #expect(try read(name) == "my own" && fixture.list(podcast).filter { $0 == name }.count == 1)
    try wait(fixture.tree.remove(name, in: podcast, for: fixture.me))
    #expect(try read(name) == "WEBVTT of the feed")
  }

  @Test func itTakesThePlaceOfTheFeedsInAnyFormat() throws {
    let (own, feeds) = (Self.stem + ".srt", Self.stem + ".vtt")
    func transcripts() throws -> [String] { try fixture.list(podcast).filter { [own, feeds].contains($0) } }
    #expect(try transcripts() == [feeds])
    try create(own, "1\n00:00:01,000 --> 00:00:02,000\nFog.\n")
    #expect(try transcripts() == [own])
    #expect(failure(fixture.tree.lookup(feeds, in: podcast, for: fixture.me)) == .ENOENT)
    try wait(fixture.tree.remove(own, in: podcast, for: fixture.me))
    #expect(try transcripts() == [feeds])
  }

  @Test func whileItIsCopiedItHasItsNameAndItsSize() throws {
    let name = Self.stem + ".txt"
    let created = try wait(fixture.tree.create(name, in: podcast, for: fixture.me))
    _ = try Array("half".utf8).withUnsafeBytes { try created.file.write(at: 0, $0).get() }
    let found = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me))
    #expect(found.node == created.attributes.node && found.size == 4)
    #expect(try !fixture.list(podcast).contains(name))
    try wait(created.file.flush())
    created.file.close()
    #expect(try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me)).node == found.node)
    #expect(try fixture.list(podcast).contains(name))
  }

  @Test func whatCannotBeATranscriptIsRefused() throws {
    for name in ["other.vtt", Self.stem + ".json", Self.stem + ".vtt.part", "." + Self.stem + ".vtt.x"] {
      #expect(failure(fixture.tree.create(name, in: podcast, for: fixture.me)) == .EROFS)
    }
    #expect(failure(fixture.tree.create(Self.stem + ".srt", in: podcast, for: fixture.stranger)) == .EACCES)
    let binary = try wait(fixture.tree.create(Self.stem + ".srt", in: podcast, for: fixture.me)).file
    _ = try [UInt8]([0xFF, 0xFE, 0]).withUnsafeBytes { try binary.write(at: 0, $0).get() }
    #expect(failure(binary.flush()) == .EINVAL)
    binary.close()
    let long = try wait(fixture.tree.create(Self.stem + ".txt", in: podcast, for: fixture.me)).file
    #expect(
      [UInt8](repeating: 32, count: 1).withUnsafeBytes { long.write(at: 4 << 20, $0) } == .failure(.EFBIG))
    #expect(failure(long.flush()) == .EFBIG)
    long.close()
    #expect(try !fixture.list(podcast).contains { $0.hasSuffix(".srt") || $0.hasSuffix(".txt") })
  }

  @Test func anEmptyOneIsRefusedAndChangesNothing() throws {
    let name = "2024-01-02 - Part 2.srt"
    func closeEmpty(_ file: any OpenFile) -> Errno? {
      defer { file.close() }
      return failure(file.flush())
    }
    #expect(closeEmpty(try wait(fixture.tree.create(name, in: podcast, for: fixture.me)).file) == .EINVAL)
    #expect(try !fixture.list(podcast).contains(name))
    try create(name, "mine")
    let own = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me))
    let cut = try wait(fixture.tree.open(own.node, writes: true, truncates: true, for: fixture.me))
    #expect(closeEmpty(cut) == .EINVAL)
    try fixture.tree.awaitIdle()
    #expect(try read(name) == "mine")
    // As touch(1), which writes nothing: also to the feed's, which nobody has fetched.
    let feeds = try wait(fixture.tree.lookup(Self.stem + ".vtt", in: podcast, for: fixture.me))
    for node in [own.node, feeds.node] {
      #expect(closeEmpty(try wait(fixture.tree.open(node, writes: true, for: fixture.me))) == nil)
    }
    #expect(try read(name) == "mine" && read(Self.stem + ".vtt") == "WEBVTT of the feed")
  }

  @Test func anotherMountOfTheUserListsIt() throws {
    let name = "2024-01-03 - Part 3.vtt"
    try create(name, "WEBVTT")
    let next = try TreeFixture(cache: directory.path("cache"), data: directory.path("data"))
    #expect(try next.list(try next.searched()).contains(name))
  }
}
