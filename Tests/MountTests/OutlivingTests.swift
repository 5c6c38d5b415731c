import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing

/// The mount outlives the process that serves it: programs that use it notice neither its death nor its replacement.
@Suite struct OutlivingTests {
  private func descriptors(_ process: Int32) -> Int {
    (try? Directories.names(in: "/proc/\(process)/fd"))?.count ?? 0
  }

  /// How many deaths: a few here, PODCASTFS_KILLS of them by hand (Documentation/Contributing.md).
  private var kills: Int {
    Places.processEnvironment["PODCASTFS_KILLS"].flatMap { Int($0) } ?? 8
  }

  @Test func tenReadersNoticeNoDeath() throws {
    let fixture = try MountFixture.prepared()
    let first = try #require(fixture.mountProcess)
    let before = descriptors(first)
    for number in 1...2 {
      _ = try fixture.environment.home.write("\(number)", fixture.bodies[number - 1].bytes)
    }
    let one = "\"$MNT/Subscriptions/\(MountFixture.podcast)/\(MountFixture.names[0])\""
    let two = "\"$MNT/Subscriptions/\(MountFixture.podcast)/\(MountFixture.names[1])\""
    let works = [
      // Past the kernel's pages.
      "dd if=\(one) iflag=nocache bs=64k status=none | cmp - \"$HOME/1\"",
      "dd if=\(two) iflag=nocache bs=4k status=none | cmp - \"$HOME/2\"",
      "cp -r \"$MNT/Downloaded\" \"$HOME/copy\" && cmp \"$HOME/1\" \"$HOME/copy/\"*/*1.mp3 && rm -r \"$HOME/copy\"",
      "test \"$(ls -lR \"$MNT/Subscriptions\" | grep -c mp3)\" = 3",
      "find \"$MNT/Subscriptions\" \"$MNT/Latest\" -name '*.mp3' | wc -l | grep -qx 6",
      "getfattr --absolute-names -d \(one) | grep -q 'state=\"cached\"'",
      "mkdir \"$MNT/Search/made\" && rmdir \"$MNT/Search/made\"",
      "mkdir \"$MNT/Search/a\" && mv \"$MNT/Search/a\" \"$MNT/Search/b\" && rmdir \"$MNT/Search/b\"",
      "setfattr -n user.podcastfs.position -v 1 \(two) && setfattr -n user.podcastfs.position -v 0 \(two)",
      "tail -c 1000 \(two) | cmp - \"$HOME/tail\"",
    ]
    _ = try fixture.environment.home.write("tail", Array(fixture.bodies[1].bytes.suffix(1000)))
    let readers = try works.map { work in
      try fixture.shell("while [ ! -e \"$HOME/stop\" ]; do \(work) || exit 1; done")
    }
    let waiter = try fixture.shell("exec cat \"$MNT/.podcastfs/events\"")
    var generator = SeededGenerator(seed: 7)
    var last: Int32?
    var away: [Double] = []
    for _ in 0..<kills {
      // The blow falls at any moment.
      _ = Monitor(false).wait(until: .after(Double.random(in: 0.01...0.25, using: &generator))) {
        $0 ? true : nil
      }
      last = try fixture.killNext(after: last)
      let begun = MonotonicTime.now
      var status = statvfs()
      #expect(statvfs(fixture.root, &status) == 0)
      away.append(MonotonicTime.now.seconds(since: begun))
    }
    _ = try fixture.environment.home.write("stop", [])
    for (reader, work) in zip(readers, works) {
      #expect(reader.wait() == .exit(0), "\(work): \(reader.errors)")
      #expect(reader.errors == "", "\(work)")
    }
    #expect(waiter.errors == "")
    waiter.signal(SIGTERM)
    #expect(waiter.wait() == .signal(SIGTERM))
    #expect(eventually { fixture.mountProcess.map { $0 != last } ?? false })
    let end = try #require(fixture.mountProcess)
    #expect(eventually { descriptors(end) <= before + 8 }, "\(before), then \(descriptors(end))")
    #expect(fixture.keepers.count == 1)
    away.sort()
    print(
      "away: \(away[away.count / 2]) s in the median of \(kills) deaths, \(away[away.count - 1]) s at most")
  }

  @Test func aDownloadIsReadThroughEveryDeathOfEitherProcess() throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 1_500_000)
    let expected = try fixture.environment.home.write("expected", fixture.bodies[2].bytes)
    let reader = try fixture.shell("exec cmp \"\(fixture.subscribed(3))\" \"\(expected)\"")
    var last: Int32?
    for bytes in [300_000, 900_000, 1_800_000] {
      #expect(
        try eventually {
          try fixture.attribute("bytes_received", fixture.subscribed(3)).flatMap { Int($0) } ?? 0 > bytes
        })
      last = try fixture.killNext(after: last)
    }
    kill(try #require(fixture.daemon), SIGKILL)
    #expect(reader.wait() == .exit(0), "\(reader.output)\(reader.errors)")
  }

  /// What changed just before a death, or while nobody served, does not move what stayed.
  @Test func aWorkingDirectoryStaysInItsPlace() throws {
    let fixture = try MountFixture.prepared()
    let folder = "\(fixture.root)/Subscriptions/\(MountFixture.podcast)"
    let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    let keeper = try #require(fixture.keepers.first)
    kill(keeper, SIGSTOP)
    kill(try #require(fixture.mountProcess), SIGKILL)
    #expect(eventually { fixture.mountProcess == nil })
    var feed = TestFeed("Another")
    feed.items = [TestFeed.Item("One", url: fixture.origin.url("/1.mp3"), guid: "one", length: 1)]
    fixture.origin.serve("/other.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    #expect(try fixture.run("subscribe", fixture.origin.url("/other.xml")).end == .exit(0))
    kill(keeper, SIGCONT)
    // Nobody looks at a name: when a command has ended, the kernel has been told what it is to forget.
    #expect(eventually { fixture.log.contains("serves the mount") })
    #expect(try fixture.run("refresh").end == .exit(0))
    #expect(Directories.linkTarget("/proc/self/fd/\(directory)") == folder)
  }

  /// One that was killed is replaced before the mount is handed over.
  @Test func aMountIsRestartedThoughItsKeeperWasKilled() throws {
    let fixture = try MountFixture.prepared()
    let keeper = try #require(eventually { fixture.keepers.count == 1 } ? fixture.keepers.first : nil)
    kill(keeper, SIGKILL)
    #expect(eventually { fixture.keepers.isEmpty })
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    #expect(eventually { fixture.keepers.count == 1 })
    #expect(try fixture.isWhole(fixture.subscribed(1), 1))
  }

  @Test func aConfigurationThatHasBecomeUnusableEndsNoMount() throws {
    let fixture = try MountFixture.prepared()
    _ = try fixture.environment.home.write("config/podcastfs/config", Array("downloads = foo\n".utf8))
    let process = try #require(fixture.mountProcess)
    #expect(try fixture.run("restart", fixture.root).end == .exit(1))
    #expect(fixture.mountProcess == process)
    _ = try fixture.killNext(after: nil)
    #expect(try fixture.isWhole(fixture.subscribed(1), 1))
    #expect(fixture.log.contains("the mount continues without the configuration file"))
  }
}
