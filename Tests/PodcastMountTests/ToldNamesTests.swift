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

  private func keep(_ listed: ToldNames.Names, of directory: NodeID, in names: ToldNames) {
    names.keep(directory) { add in for (name, node) in listed { add(name, node) } }
  }

  /// Another one when a file has been written anew.
  private func number(of file: String) -> UInt64 {
    var status = stat()
    #expect(stat(file, &status) == 0)
    return UInt64(status.st_ino)
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
    keep(["A/": node, "B": node], of: .latest, in: first)
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
    keep(["X": node], of: .latest, in: next)
    settle()
    #expect(next.takeInherited(.latest) == ["C": NodeID(.episode, 2), "E": node])
    #expect(next.inherited.isEmpty && next.takeInherited(.latest) == nil)
    next.note([name("C", .vanished)])
    #expect(names(true).takeInherited(.latest) == ["E": node])
    #expect(names(false).inherited.isEmpty)
  }

  @Test func ofOneNameTheLastWordCounts() {
    let first = names(false)
    let (one, other) = (NodeID(rawValue: 0), NodeID(rawValue: .max))
    first.keep(.latest) { add in
      for (name, node) in [("A", one), ("B", one), ("A", other), ("B", nil), ("C", one)] { add(name, node) }
    }
    settle()
    #expect(names(true).takeInherited(.latest) == ["A": other, "C": one])
  }

  @Test func whatHasGrownIsWrittenAnew() throws {
    let first = names(false)
    keep([:], of: .latest, in: first)
    settle()
    for number in 0..<2000 {
      first.note([name("name \(number)", .appeared)])
      if number != 1999 { first.note([name("name \(number)", .vanished)]) }
    }
    let file = home.path("told/\(String(NodeID.latest.rawValue, radix: 16))")
    #expect(try Directories.read(file).count < 20_000)
    #expect(names(true).takeInherited(.latest) == ["name 1999": NodeID(.episode, 1)])
  }

  /// A folder is listed first, and filled when its feed has come.
  @Test func whatComesIsOnlyAdded() {
    let first = names(false)
    keep([:], of: .latest, in: first)
    settle()
    let file = home.path("told/\(String(NodeID.latest.rawValue, radix: 16))")
    let node = number(of: file)
    let many = (0..<10_000).map { name("name \($0)", .appeared) }
    first.note(many)
    #expect(number(of: file) == node, "it was written anew")
    first.note(many.dropLast().map { name($0.name, .vanished) })
    #expect(number(of: file) != node)
    #expect(names(true).takeInherited(.latest) == ["name 9999": NodeID(.episode, 1)])
  }

  @Test func anEntryThatWasBeingWrittenCountsForNothing() throws {
    let first = names(false)
    keep(["A": NodeID(.episode, 1)], of: .latest, in: first)
    settle()
    let file = home.path("told/\(String(NodeID.latest.rawValue, radix: 16))")
    let bytes = try Directories.read(file) + Array("-1/A".utf8)
    try Directories.replace(file, with: bytes)
    #expect(names(true).takeInherited(.latest) == ["A": NodeID(.episode, 1)])
  }

  @Test func ofWhatHasEndedOrMadeRoomNothingIsKept() {
    let first = names(false)
    let folder = NodeID(.subscription, 7)
    for directory in [NodeID.latest, .downloading, folder] { keep([:], of: directory, in: first) }
    settle()
    first.forget(.downloading)
    first.note([name("X", .vanished, 7, isDirectory: true)])
    #expect(names(true).inherited == [.latest])
    first.end()
    #expect(names(true).inherited.isEmpty)
  }
}
