import Glibc
import PosixKit
import TestSupport
import Testing

/// What is open when the process that serves dies goes on with the next one: files, waits, the log.
@Suite struct OpenOverDeathTests {
  @Test func whatIsAwaitedComesAndWhatWasHalfWrittenFails() throws {
    let fixture = try MountFixture.prepared()
    fixture.directory.behave(.with { $0.latency = 1 })
    let list = """
      <opml version="2.0"><body><outline type="rss" xmlUrl="http://127.0.0.1:1/x"/></body></opml>
      """
    let making = try fixture.shell("mkdir \"$MNT/Search/slow\" && echo made")
    let polling = try fixture.shell(
      "timeout 20 tail -f \"$MNT/.podcastfs/log\" | grep -m 1 -q 'serves the mount'")
    let writing = Glibc.open(fixture.root + "/Subscriptions/x.opml", O_WRONLY | O_CREAT, 0o644)
    #expect(write(writing, list, 40) == 40)
    let opened = Glibc.open(fixture.subscribed(1), O_RDONLY)
    defer { if opened >= 0 { close(opened) } }
    _ = try fixture.killNext(after: nil)
    // What was open is read on.
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(opened, &bytes, 1000, 1000) == 1000)
    #expect(bytes == Array(fixture.bodies[0].bytes[1000..<2000]))
    #expect(making.waitForOutput { $0.contains("made") }, "\(making.errors)")
    #expect(polling.wait() == .exit(0))
    // What had been written has gone with the process that had it.
    #expect(errnoOf { Int32(write(writing, list, 40)) } == .EIO)
    #expect(errnoOf { close(writing) } == .EIO)
    #expect(try fixture.run("list").output.contains("127.0.0.1:1") == false)
  }

  /// What is logged while somebody reads the log reaches who reads on (`tail -f`), whichever process serves.
  @Test func theLogCanBeFollowed() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let file = Glibc.open(fixture.root + "/.podcastfs/log", O_RDONLY)
    defer { close(file) }
    var text = ""
    func readOn() -> String {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(file, &bytes, bytes.count)
      text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      return text
    }
    #expect(eventually { readOn().contains("mounted on") })
    _ = try fixture.killNext(after: nil)
    #expect(eventually { readOn().contains("serves the mount on") })
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    #expect(eventually { readOn().contains("hands the mount on") }, "\(text)")
  }

  /// An episode that has been paused while it was open, and its first bytes had been read.
  private func openedAndPaused(_ fixture: MountFixture, _ bytes: inout [UInt8]) throws -> Int32 {
    let file = Glibc.open(fixture.subscribed(3), O_RDONLY)
    #expect(pread(file, &bytes, bytes.count, 0) == bytes.count)
    try fixture.set("state", "paused", fixture.subscribed(3))
    return file
  }

  @Test func whatWasPausedWhileItWasOpenStaysPaused() throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 1_000_000)
    var bytes = [UInt8](repeating: 0, count: 1000)
    let file = try openedAndPaused(fixture, &bytes)
    defer { close(file) }
    let process = try fixture.killNext(after: nil)
    #expect(pread(file, &bytes, 1000, 0) == 1000)
    #expect(bytes == Array(fixture.bodies[2].bytes[..<1000]))
    #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
    #expect(try fixture.attribute("state", fixture.subscribed(3)) == "paused")
    #expect(fixture.origin.requests("/3.mp3").filter { $0.range == nil }.count == 1)
  }

  /// What had come of it is gone with the process, and nobody has it come again: its reader hears that, and why is in
  /// the log. Whether it was killed or has handed the mount on; whether all had come or some.
  @Test(arguments: [true, false], [1, 3]) func whatWasDroppedWhileItWasOpenIsGoneForTheNext(
    _ isKilled: Bool, _ number: Int
  ) throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 500_000)
    let file = Glibc.open(fixture.subscribed(number), O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 100_000)
    let expected = Array(fixture.bodies[number - 1].bytes[..<100_000])
    #expect(pread(file, &bytes, 100_000, 0) == 100_000)
    try fixture.set("state", "remote", fixture.subscribed(number))
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    // It is its reader's until then.
    #expect(pread(file, &bytes, 100_000, 0) == 100_000 && bytes == expected)
    if isKilled {
      _ = try fixture.killNext(after: nil)
    } else {
      #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    }
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    for offset in [0, 2_000_000] {
      let count = pread(file, &bytes, 100_000, offset)
      let errno = count < 0 ? Errno.current : nil
      let right = fixture.bodies[number - 1].bytes[offset..<offset + 100_000]
      let isRead = count == 100_000 && bytes == Array(right)
      #expect(isRead || errno == .ESTALE, "\(offset): \(count) \(String(describing: errno))")
    }
    #expect(try fixture.isWhole(fixture.subscribed(number), number))
  }

  /// What a reader of the server's last file had has gone with the process; no byte of the present one follows on it.
  @Test func noOtherFileFollowsOnTheOneThatWasOpen() throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 1_000_000)
    var bytes = [UInt8](repeating: 0, count: 1000)
    let file = try openedAndPaused(fixture, &bytes)
    defer { close(file) }
    let other = TestBody(seed: 99, size: 3_000_000)
    fixture.origin.serve("/3.mp3", OriginResource(other))
    #expect(try Directories.read(fixture.subscribed(3), limit: 4 << 20) == other.bytes)
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    let count = pread(file, &bytes, 1000, 2_000_000)
    #expect(count < 0 && Errno.current == .ESTALE, "\(count)")
    #expect(try Directories.read(fixture.subscribed(3), limit: 4 << 20) == other.bytes)
  }
}
