import Glibc
import PodcastMount
import PodcastTree
import PosixKit
import TestSupport
import Testing

/// What those who watch a directory know of it, as the next process finds it.
@Suite struct ToldNamesTests {
  private let home: TemporaryDirectory
  private let queue = WorkQueue(name: "told")

  init() throws { home = try TemporaryDirectory() }

  private func names(_ inherits: Bool) -> ToldNames {
    let names = ToldNames(queue)
    names.begin(in: home.path("told"), inherits: inherits)
    return names
  }

  /// What was to be written has been.
  private func settle() {
    let isDone = Monitor(false)
    queue.async { isDone.withLockNotifying { $0 = true } }
    #expect(isDone.wait(until: .after(patience)) { $0 ? true : nil } == true)
  }

  private func name(_ name: String, _ event: Difference.Event, _ row: Int64 = 1, isDirectory: Bool = false)
    -> Difference.Name
  {
    Difference.Name(
      name: name, directory: .latest, event: event, isDirectory: isDirectory,
      node: NodeID(isDirectory ? .subscription : .episode, row))
  }

  @Test func theNextProcessFindsWhatWasListedAndWhatWasToldSince() {
    let first = names(false)
    let node = NodeID(.episode, 1)
    first.keep(.latest) { ["A/": node, "B": node] }
    first.note([name("A/", .vanished)])
    settle()
    first.note([name("C", .appeared, 2), name("D", .replaced), name("B", .moved(to: "E"))])
    // Of another directory nothing is kept.
    first.note([
      Difference.Name(name: "A", directory: .downloading, event: .appeared, isDirectory: false, node: node)
    ])
    let next = names(true)
    #expect(next.inherited == [.latest])
    // As long as it has not been compared, it stays what it was.
    next.keep(.latest) { ["X": node] }
    settle()
    #expect(next.takeInherited(.latest) == ["C": NodeID(.episode, 2), "E": node])
    #expect(next.inherited.isEmpty && next.takeInherited(.latest) == nil)
    next.note([name("C", .vanished)])
    #expect(names(true).takeInherited(.latest) == ["E": node])
    #expect(names(false).inherited.isEmpty)
  }

  @Test func whatHasGrownIsWrittenAnew() throws {
    let first = names(false)
    first.keep(.latest) { [:] }
    settle()
    for number in 0..<2000 {
      first.note([name("name \(number)", .appeared)])
      if number != 1999 { first.note([name("name \(number)", .vanished)]) }
    }
    let file = home.path("told/\(String(NodeID.latest.rawValue, radix: 16))")
    #expect(try Directories.read(file).count < 20_000)
    #expect(names(true).takeInherited(.latest) == ["name 1999": NodeID(.episode, 1)])
  }

  @Test func anEntryThatWasBeingWrittenCountsForNothing() throws {
    let first = names(false)
    first.keep(.latest) { ["A": NodeID(.episode, 1)] }
    settle()
    let file = home.path("told/\(String(NodeID.latest.rawValue, radix: 16))")
    let bytes = try Directories.read(file) + Array("-1/A".utf8)
    try Directories.replace(file, with: bytes)
    #expect(names(true).takeInherited(.latest) == ["A": NodeID(.episode, 1)])
  }

  @Test func ofWhatHasEndedOrMadeRoomNothingIsKept() {
    let first = names(false)
    let folder = NodeID(.subscription, 7)
    for directory in [NodeID.latest, .downloading, folder] { first.keep(directory) { [:] } }
    settle()
    first.forget(.downloading)
    first.note([name("X", .vanished, 7, isDirectory: true)])
    #expect(names(true).inherited == [.latest])
    first.end()
    #expect(names(true).inherited.isEmpty)
  }
}
