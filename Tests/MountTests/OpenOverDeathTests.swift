import Glibc
import PosixKit
import TestSupport
import Testing

/// What is open when the process that serves dies goes on with the next one: files, texts, waits, what was to happen at the close.
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

  /// One that is made anew at each open is read to its end as it was when it was opened.
  @Test func aTextIsReadToItsEndAsItWas() throws {
    let fixture = try MountFixture.prepared()
    for name in [".podcastfs/status.json", "Subscriptions/subscriptions.opml"] {
      let path = "\(fixture.root)/\(name)"
      let whole = try Directories.read(path)
      let file = Glibc.open(path, O_RDONLY)
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      #expect(read(file, &bytes, 10) == 10)
      #expect(try fixture.run("cancel", fixture.subscribed(1)).end == .exit(0))
      #expect(try fixture.run("unsubscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
      let process = try fixture.killNext(after: nil)
      let count = read(file, &bytes[10], bytes.count - 10)
      #expect(Array(bytes[..<(10 + max(0, count))]) == whole, "\(name)")
      #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
      #expect(try Directories.read(path) != whole)
      #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
      #expect(try fixture.isWhole(fixture.subscribed(1), 1))
    }
    let texts = fixture.environment.home.path("run") + "/podcastfs/open-texts"
    #expect(try eventually { try Directories.names(in: texts).isEmpty })
  }

  /// What nobody has read yet, and what happens while no process serves.
  @Test func whoReadsTheEventsMissesNoneOverADeath() throws {
    let fixture = try MountFixture.prepared(size: 600_000, rate: 300_000)
    // Of what has been before nothing is read: also of the second's end, which may be written down behind the last read.
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(2)) == "cached" })
    try fixture.set("played", "1", fixture.subscribed(2))
    let file = Glibc.open(fixture.root + "/.podcastfs/events", O_RDONLY | O_NONBLOCK)
    defer { close(file) }
    var text = ""
    func count(_ parts: String...) -> Int {
      var bytes = [UInt8](repeating: 0, count: 100)
      while true {
        let count = read(file, &bytes, bytes.count)
        if count <= 0 { break }
        text += String(decoding: bytes[..<count], as: UTF8.self)
      }
      return text.split(separator: "\n").count { line in parts.allSatisfy { line.contains($0) } }
    }
    let names = MountFixture.names
    #expect(try fixture.run("cancel", fixture.subscribed(1)).end == .exit(0))
    #expect(eventually { count("\"remote\"", names[0]) == 1 }, "\(text)")
    // Not read before the death.
    #expect(try fixture.run("cancel", fixture.subscribed(2)).end == .exit(0))
    let getting = try fixture.shell("podcastfs get \"\(fixture.subscribed(3))\"")
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(3)) == "downloading" })
    let keeper = try #require(fixture.keepers.first)
    kill(keeper, SIGSTOP)
    kill(try #require(fixture.mountProcess), SIGKILL)
    #expect(eventually { fixture.mountProcess == nil })
    #expect(try eventually { try fixture.run("status", "--json").output.contains("\"cached\"") })
    fixture.publish(count: 3) { feed, origin in
      feed.items.append(
        TestFeed.Item(
          "Part 4", url: origin.url("/4.mp3"), guid: "guid-4", published: 1_705_000_000, length: 1000))
    }
    #expect(try fixture.run("refresh").end == .exit(0))
    kill(keeper, SIGCONT)
    #expect(getting.wait() == .exit(0), "\(getting.errors)")
    #expect(eventually { count("new_episode") == 1 }, "\(text)\n\(fixture.log)")
    #expect(eventually { count("\"cached\"", names[2]) >= 1 }, "\(text)\n\(fixture.log)")
    // A state that the process has told just before its death may be told again.
    #expect(count("\"remote\"", names[1]) >= 1)
    #expect(count("\"cached\"") == count("\"cached\"", names[2]) && count("new_episode") == 1, "\(text)")
    #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(text)")
  }

  @Test func whatWasRemovedWhileItWasOpenIsDroppedWhenItIsClosedByTheNext() throws {
    let fixture = try MountFixture.prepared()
    mkfifo(fixture.environment.home.path("go"), 0o600)
    let reader = try RunningProcess(
      "sh", ["-c", "exec 5<\"\(fixture.subscribed(1))\"; echo open; read -r line <\"$HOME/go\""],
      environment: fixture.environment.variables)
    #expect(reader.waitForOutput { $0.contains("open") })
    #expect(unlink("\(fixture.root)/Downloaded/\(MountFixture.podcast)/\(MountFixture.names[0])") == 0)
    _ = try fixture.killNext(after: nil)
    let state = try fixture.attribute("state", fixture.subscribed(1))
    #expect(state == "cached", "\(fixture.log)")
    reader.signal(SIGKILL)
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(1)) == "remote" })
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
      if !isRead { #expect(fixture.log.contains("dropped or deleted"), "\(fixture.log)") }
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
