import CTestLinux
import Glibc
import PosixKit
import TestSupport
import Testing

/// Several programs read an episode while others drop or pause it, and the mount changes hands.
@Suite struct SharedReadingTests {
  /// Reads of what somebody else has dropped meanwhile fail, nothing else does, and the log says why.
  @Test func whereAllOpenAndDropItOpensAndReadsFailInOneWayEach() throws {
    let fixture = try MountFixture(size: 3_000_000, rate: 20_000_000)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let path = fixture.subscribed(1)
    let expected = fixture.bodies[0].bytes
    let failures = Monitor<[String: Int]>([:])
    let left = Monitor(4)
    for number in 0..<4 {
      PosixThread.start("reader") {
        var generator = SeededGenerator(seed: UInt64(number))
        for _ in 0..<40 {
          if let why = Self.visit(path, expected, &generator) {
            failures.withLock { $0[why, default: 0] += 1 }
          }
        }
        left.withLockNotifying { $0 -= 1 }
      }
    }
    #expect(left.wait(until: .after(2 * patience)) { $0 == 0 ? true : nil } == true)
    let found = failures.withLock { $0 }
    let (cancelled, dropped) = ("open: \(Errno.EIO)", "read: \(Errno.ESTALE)")
    #expect(Set(found.keys).isSubset(of: [cancelled, dropped]), "\(found)\n\(fixture.log)")
    try fixture.awaitRest()
  }

  /// Opens it, reads here and there, and drops it now and then.
  /// - Returns: what has failed, and how.
  private static func visit(
    _ path: String, _ expected: [UInt8], _ generator: inout SeededGenerator
  ) -> String? {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { return "open: \(Errno.current)" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 131_072)
    for _ in 0..<4 {
      let offset = Int.random(in: 0..<expected.count - bytes.count, using: &generator)
      let count = pread(file, &bytes, bytes.count, off_t(offset))
      if count < 0 { return "read: \(Errno.current)" }
      // A part is what came before a failure.
      if !expected[offset...].starts(with: bytes[..<count]) || count == 0 { return "wrong bytes" }
      if Int.random(in: 0..<8, using: &generator) == 0 {
        try? ExtendedAttributes.set("user.podcastfs.state", of: path, to: "remote")
      }
    }
    return nil
  }

  /// Who may start no download, and has it open.
  @Test func whatWasDroppedIsStaleForTheNextAlsoForWhoStartsNothing() throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 500_000)
    let reader = Glibc.open(fixture.subscribed(3), O_RDONLY | O_CLOEXEC)
    defer { close(reader) }
    var bytes = [UInt8](repeating: 0, count: 100_000)
    #expect(pread(reader, &bytes, 100_000, 0) == 100_000)
    let noAccessTime: Int32 = 0o1_000_000
    var looker: Int32 = -1
    // What is here is told a moment later.
    let isOpen = eventually {
      looker = Glibc.open(fixture.subscribed(3), O_RDONLY | O_CLOEXEC | noAccessTime)
      return looker >= 0
    }
    try #require(isOpen)
    defer { close(looker) }
    #expect(pread(looker, &bytes, 1000, 0) == 1000)
    try fixture.set("state", "remote", fixture.subscribed(3))
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    posix_fadvise(looker, 0, 0, POSIX_FADV_DONTNEED)
    let count = pread(looker, &bytes, 100_000, 2_000_000)
    #expect(count < 0 && Errno.current == .ESTALE, "\(count)")
  }

  /// As before: its reads wait, and what is resumed comes for them.
  @Test func whoReadsWhatWasPausedWaitsAlsoAfterATakeover() throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 500_000)
    let file = Glibc.open(fixture.subscribed(3), O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 100_000)
    #expect(pread(file, &bytes, 100_000, 0) == 100_000)
    try fixture.set("state", "paused", fixture.subscribed(3))
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    fixture.origin.change("/3.mp3") { $0.behaviour.rate = nil }
    try fixture.set("state", "downloading", fixture.subscribed(3))
    #expect(pread(file, &bytes, 100_000, 2_900_000) == 100_000)
    #expect(bytes == Array(fixture.bodies[2].bytes[2_900_000...]))
  }
}
