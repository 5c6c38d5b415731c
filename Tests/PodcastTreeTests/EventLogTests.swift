import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// `.podcastfs/events`.
@Suite struct EventLogTests {
  /// A reader of the file: the kernel counts what it has been given.
  private final class Reader {
    var file: any OpenFile
    var offset: Int64 = 0
    var text = ""

    init(_ fixture: TreeFixture) throws {
      file = try wait(fixture.tree.open(.events, writes: false, for: fixture.me))
    }

    @discardableResult
    func read(_ count: Int) throws -> Int {
      var bytes = [UInt8](repeating: 0, count: count)
      let result = bytes.withUnsafeMutableBytes { file.read(at: offset, into: $0) }
      guard let read = try result?.get() else { return 0 }
      offset += Int64(read)
      text += String(decoding: bytes[..<read], as: UTF8.self)
      return read
    }

    var lines: [Substring] { text.split(separator: "\n") }
    func readAll() throws { while try read(70) > 0 {} }
    /// Reads on until lines have come.
    func readSome() throws -> Bool {
      try eventually {
        try readAll()
        return !text.isEmpty
      }
    }
  }

  private func change(
    _ fixture: TreeFixture, _ state: TransferState, at time: Int64, generation: UInt32 = 1
  ) {
    fixture.transfers.set(
      TransferStatus(
        key: TreeFixture.key, state: state, generation: generation, changed: time * 1_000_000_000))
  }

  /// What the tree has been told is taken in when this ends.
  private func settle(_ fixture: TreeFixture) throws {
    try wait(fixture.tree.open(.status, writes: false, for: fixture.me)).close()
  }

  /// A tree that knows the episodes.
  private func fixture() throws -> TreeFixture {
    let fixture = try TreeFixture()
    _ = try fixture.list(fixture.searched())
    // The commit of its refresh is no event of a test.
    try fixture.settle()
    return fixture
  }

  /// As the attributes have them, and status.json.
  @Test func theFeedsSizeIsToldWhileNoServerHasToldOne() throws {
    let fixture = try fixture()
    let reader = try Reader(fixture)
    change(fixture, .queued, at: 9_000_000_000)
    #expect(try reader.readSome())
    let episode = try wait(
      fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: fixture.searched(), for: fixture.me)
    ).node
    let size = try fixture.attribute("user.podcastfs.bytes_total", episode)
    let words = #""progress":"0.0","bytes_received":0,"bytes_total":\#(size),"#
    #expect(reader.text.contains(words), "\(reader.text)")
  }

  @Test func aListOfManyBadEntriesIsOneEventWithTheFirstOfThem() throws {
    let fixture = try fixture()
    let reader = try Reader(fixture)
    let created = try wait(fixture.tree.create("list.opml", in: .subscriptions, for: fixture.me))
    let bad = (1...10_000).map { "<outline text='bad \($0).' xmlUrl='ftp://x'/>" }.joined()
    let list = "<opml version='2.0'><body><outline xmlUrl='http://b.example/'/>\(bad)</body></opml>"
    _ = Array(list.utf8).withUnsafeBytes { created.file.write(at: 0, $0) }
    #expect(failure(created.file.flush()) == nil)
    #expect(try reader.readSome())
    while try reader.read(1 << 16) > 0 {}
    #expect(reader.lines.count == 1 && reader.text.contains("bad 20.") && !reader.text.contains("bad 21."))
    created.file.close()
  }

  /// Its process has died: it goes on with what happens from then on.
  @Test func whoHadTheFileOpenInAnotherProcessReadsOn() throws {
    let fixture = try fixture()
    let reader = try Reader(fixture)
    let caller = Caller(user: fixture.me.user, thread: 1, resumes: 0)
    reader.file = try wait(fixture.tree.open(.events, writes: false, for: caller))
    reader.offset = 1000
    #expect(try reader.read(100) == 0)
    change(fixture, .queued, at: 9_000_000_000)
    #expect(try reader.readSome())
    #expect(reader.lines.count == 1 && reader.text.contains(#""state":"queued""#), "\(reader.text)")
    // What was made at its open has gone with that process.
    for node in [NodeID.status, .subscriptionList] {
      #expect(failure(fixture.tree.open(node, writes: false, for: caller)) == .ESTALE)
    }
  }

  /// Its oldest lines go, whole.
  @Test func whoStopsReadingLosesTheOldestLines() throws {
    let first = try fixture()
    let (slow, fast) = (try Reader(first), try Reader(first))
    for number in 0..<8000 {
      change(
        first, number % 2 == 0 ? .queued : .remote, at: 9_000_000_000 + Int64(number),
        generation: UInt32(number))
      // Each by itself: of several at once the last is told.
      try settle(first)
      if number % 1000 == 999 { while try fast.read(1 << 16) > 0 {} }
    }
    while try fast.read(1 << 16) > 0 {}
    while try slow.read(4096) > 0 {}
    #expect(fast.lines.count == 8000)
    #expect(slow.lines.count < 8000 && slow.text.utf8.count > 1 << 18)
    #expect(slow.lines.elementsEqual(fast.lines.suffix(slow.lines.count)))
    slow.file.close()
    fast.file.close()
  }
}
