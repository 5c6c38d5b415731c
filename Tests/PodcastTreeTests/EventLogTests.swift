import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// `.podcastfs/events` over the processes that serve a mount one after the other: each is a tree on the same memory.
@Suite struct EventLogTests {
  /// A reader of the file: the kernel counts what it has been given.
  private final class Reader {
    var file: any OpenFile
    var place: UInt64 { kept.withLock { $0 } }
    var offset: Int64 = 0
    var text = ""
    private let kept = Monitor<UInt64>(0)

    init(_ fixture: TreeFixture) throws {
      file = try wait(fixture.tree.open(.events, writes: false, for: fixture.me))
      let kept = kept
      file.keepPlace { place in kept.withLock { $0 = place } }
    }

    /// The process has died; the next one opens the file again.
    func goOn(_ fixture: TreeFixture) throws {
      let caller = Caller(user: fixture.me.user, thread: 1, comesAgain: true, place: place)
      file = try wait(fixture.tree.open(.events, writes: false, for: caller))
      let kept = kept
      file.keepPlace { place in kept.withLock { $0 = place } }
    }

    /// - Parameter arrives: whether the answer reaches the reader before the process dies.
    @discardableResult
    func read(_ count: Int, arrives: Bool = true) throws -> Int {
      var bytes = [UInt8](repeating: 0, count: count)
      let result = bytes.withUnsafeMutableBytes { file.read(at: offset, into: $0) }
      guard let read = try result?.get() else { return 0 }
      if arrives {
        offset += Int64(read)
        text += String(decoding: bytes[..<read], as: UTF8.self)
      }
      return read
    }

    var lines: [Substring] { text.split(separator: "\n") }
    func readAll() throws { while try read(70) > 0 {} }
  }

  private func change(
    _ fixture: TreeFixture, _ state: TransferState, at time: Int64, generation: UInt32 = 1, moment: Int64 = 0
  ) {
    var status = TransferStatus(key: TreeFixture.key, state: state, generation: generation, changed: time)
    status.moment = moment
    fixture.transfers.set(status)
  }

  /// What the tree has been told is taken in when this ends.
  private func settle(_ fixture: TreeFixture) throws {
    try wait(fixture.tree.open(.status, writes: false, for: fixture.me)).close()
  }

  /// A tree that knows the episodes.
  private func fixture(_ memory: LastingMemory) throws -> TreeFixture {
    let fixture = try TreeFixture(memory: memory)
    _ = try fixture.list(fixture.searched())
    return fixture
  }

  /// The one that takes its place.
  private func next(_ memory: LastingMemory, after fixture: TreeFixture) throws -> TreeFixture {
    let next = try TreeFixture(memory: memory, after: fixture)
    try settle(next)
    return next
  }

  @Test func whatIsReadGoesOnWhereItWas() throws {
    let memory = try LastingMemory()
    let first = try fixture(memory)
    let reader = try Reader(first)
    change(first, .queued, at: 10_000_000_000)
    #expect(eventually { reader.file.isReadable })
    try reader.read(10)
    // An answer that was lost is asked for again.
    try reader.read(20, arrives: false)
    let second = try next(memory, after: first)
    try reader.goOn(second)
    try reader.readAll()
    #expect(reader.lines.count == 1 && reader.text.hasSuffix("}\n"), "\(reader.text)")
    #expect(reader.text.contains(#""state":"queued""#), "\(reader.text)")
    #expect(!reader.file.isReadable)
    // A process of an older version served between, and gave it lines of its own.
    reader.offset += 1000
    let third = try next(memory, after: second)
    try reader.goOn(third)
    #expect(try reader.read(100) == 0)
    change(third, .remote, at: 10_000_000_001)
    #expect(eventually { reader.file.isReadable })
    try reader.readAll()
    #expect(reader.lines.count == 2 && reader.lines.last?.hasPrefix("{") ?? false, "\(reader.text)")
  }

  /// As the attributes have them, and status.json.
  @Test func theFeedsSizeIsToldWhileNoServerHasToldOne() throws {
    let fixture = try fixture(LastingMemory())
    let reader = try Reader(fixture)
    change(fixture, .queued, at: 10_000_000_000)
    #expect(eventually { reader.file.isReadable })
    try reader.readAll()
    let episode = try wait(
      fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: fixture.searched(), for: fixture.me)
    ).node
    let size = try fixture.attribute("user.podcastfs.bytes_total", episode)
    let words = #""progress":"0.0","bytes_received":0,"bytes_total":\#(size),"#
    #expect(reader.text.contains(words), "\(reader.text)")
  }

  @Test func whatChangedWhileNoProcessServedIsToldOnce() throws {
    let memory = try LastingMemory()
    let first = try fixture(memory)
    let reader = try Reader(first)
    change(first, .queued, at: 10_000_000_000)
    #expect(eventually { reader.file.isReadable })
    try reader.readAll()
    // What it has told, within the same second as what it has not.
    first.transfers.state.withLock { $0.statuses[TreeFixture.key]?.state = .cached }
    let second = try next(memory, after: first)
    let completions = Monitor(0)
    second.tree.onCompletion { _, _ in completions.withLockNotifying { $0 += 1 } }
    try reader.goOn(second)
    second.tree.tellWhatWasMissed()
    second.tree.endTakingOver()
    #expect(eventually { reader.file.isReadable })
    try reader.readAll()
    #expect(completions.wait(until: .after(patience)) { $0 == 1 ? true : nil } ?? false)
    let third = try next(memory, after: second)
    third.tree.onCompletion { _, _ in completions.withLockNotifying { $0 += 1 } }
    try reader.goOn(third)
    third.tree.tellWhatWasMissed()
    third.tree.endTakingOver()
    try settle(third)
    try reader.readAll()
    #expect(reader.lines.count == 2, "\(reader.text)")
    #expect(reader.lines.last?.contains(#""state":"cached""#) ?? false, "\(reader.text)")
    #expect(completions.withLock { $0 } == 1)
  }

  @Test func aListOfManyBadEntriesIsOneEventWithTheFirstOfThem() throws {
    let fixture = try fixture(LastingMemory())
    fixture.catalog.state.withLock {
      $0.importProblems = (1...10_000).map { "line \($0): \(String(repeating: "\u{1}", count: 500))" }
    }
    let reader = try Reader(fixture)
    let created = try wait(fixture.tree.create("list.opml", in: .subscriptions, for: fixture.me))
    _ = Array("<opml/>".utf8).withUnsafeBytes { created.file.write(at: 0, $0) }
    #expect(failure(created.file.flush()) == nil)
    #expect(eventually { reader.file.isReadable })
    while try reader.read(1 << 16) > 0 {}
    #expect(reader.lines.count == 1 && reader.text.contains(#""problem_count":10000"#), "\(reader.text)")
    #expect(reader.text.contains("line 20:") && !reader.text.contains("line 21:"))
    created.file.close()
  }

  /// Its oldest lines go, whole.
  @Test func whoStopsReadingLosesTheOldestLines() throws {
    let memory = try LastingMemory()
    let first = try fixture(memory)
    let (slow, fast) = (try Reader(first), try Reader(first))
    for number in 0..<8000 {
      change(
        first, number % 2 == 0 ? .queued : .remote, at: 10_000_000_000 + Int64(number),
        generation: UInt32(number))
      // Each by itself: of several at once the last is told.
      try settle(first)
      if number % 1000 == 999 { while try fast.read(1 << 16) > 0 {} }
    }
    while try fast.read(1 << 16) > 0 {}
    while try slow.read(4096) > 0 {}
    #expect(fast.lines.count == 8000)
    #expect(slow.lines.count < 8000 && slow.text.utf8.count > LastingMemory.textLimit - 1000)
    #expect(slow.lines.elementsEqual(fast.lines.suffix(slow.lines.count)))
    slow.file.close()
    fast.file.close()
    // Nothing is kept for nobody.
    #expect(memory[.isFollowed] == 0)
  }
}
