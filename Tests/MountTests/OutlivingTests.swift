import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing

/// The mount outlives the process that serves it: programs that use it notice neither its death nor its replacement.
@Suite struct OutlivingTests {
  /// A script's programs have MNT, HOME, and podcastfs in PATH.
  private func shell(_ fixture: MountFixture, _ script: String) throws -> RunningProcess {
    var variables = fixture.environment.variables
    let program = Products.path("podcastfs")
    variables["PATH"] = program.dropLast("/podcastfs".count) + ":" + Products.searchPath
    variables["MNT"] = fixture.root
    return try RunningProcess("sh", ["-c", script], environment: variables)
  }

  /// A mount with a subscription, whose first two episodes are here.
  private func prepared(size: Int64 = 600_000, rate: Int64? = nil) throws -> MountFixture {
    let fixture = try MountFixture(size: size)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    for number in [1, 2] { #expect(try fixture.isWhole(subscribed(fixture, number), number)) }
    if let rate { fixture.origin.change("/3.mp3") { $0.behaviour.rate = rate } }
    return fixture
  }

  private func subscribed(_ fixture: MountFixture, _ number: Int) -> String {
    "\(fixture.root)/Subscriptions/\(MountFixture.podcast)/\(MountFixture.names[number - 1])"
  }

  /// Kills the process that serves, once another one than `last` does.
  /// - Returns: its number.
  private func killNext(_ fixture: MountFixture, after last: Int32?, _ signal: Int32 = SIGKILL) throws
    -> Int32
  {
    let isNew = eventually { fixture.mountProcess.map { $0 != last && !isEnding($0) } ?? false }
    let process = try #require(
      isNew ? fixture.mountProcess : nil, "keepers \(fixture.keepers)\n\(fixture.log)")
    kill(process, signal)
    return process
  }

  private func isEnding(_ process: Int32) -> Bool {
    let text = (try? Directories.read("/proc/\(process)/stat")) ?? []
    return !text.contains(UInt8(ascii: ")")) || String(decoding: text, as: UTF8.self).contains(") Z")
  }

  private func descriptors(_ process: Int32) -> Int {
    (try? Directories.names(in: "/proc/\(process)/fd"))?.count ?? 0
  }

  // MARK: Death

  /// How many deaths: a few here, PODCASTFS_KILLS of them by hand (Documentation/Contributing.md).
  private var kills: Int {
    Places.processEnvironment["PODCASTFS_KILLS"].flatMap { Int($0) } ?? 8
  }

  @Test func tenReadersNoticeNoDeath() throws {
    let fixture = try prepared()
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
      "setfattr -n user.podcastfs.played -v 1 \(two) && setfattr -n user.podcastfs.played -v 0 \(two)",
      "tail -c 1000 \(two) | cmp - \"$HOME/tail\"",
    ]
    _ = try fixture.environment.home.write("tail", Array(fixture.bodies[1].bytes.suffix(1000)))
    let readers = try works.map { work in
      try shell(fixture, "while [ ! -e \"$HOME/stop\" ]; do \(work) || exit 1; done")
    }
    let waiter = try shell(fixture, "exec cat \"$MNT/.podcastfs/events\"")
    var generator = SeededGenerator(seed: 7)
    var last: Int32?
    var away: [Double] = []
    for _ in 0..<kills {
      // The blow falls at any moment.
      _ = Monitor(false).wait(until: .after(Double.random(in: 0.01...0.25, using: &generator))) {
        $0 ? true : nil
      }
      last = try killNext(fixture, after: last)
      let begun = MonotonicTime.now
      var status = statvfs()
      #expect(statvfs(fixture.root, &status) == 0)
      away.append(MonotonicTime.now.seconds(since: begun))
    }
    _ = try fixture.environment.home.write("stop", [])
    for (reader, work) in zip(readers, works) {
      #expect(reader.wait(seconds: 60) == .exit(0), "\(work): \(reader.errors)")
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
    let fixture = try prepared(size: 3_000_000, rate: 1_500_000)
    let expected = try fixture.environment.home.write("expected", fixture.bodies[2].bytes)
    let reader = try shell(fixture, "exec cmp \"\(subscribed(fixture, 3))\" \"\(expected)\"")
    var last: Int32?
    for bytes in [300_000, 900_000, 1_800_000] {
      #expect(
        try eventually {
          try fixture.attribute("bytes_received", subscribed(fixture, 3)).flatMap { Int($0) } ?? 0 > bytes
        })
      last = try killNext(fixture, after: last)
    }
    kill(try #require(fixture.daemon), SIGKILL)
    #expect(reader.wait(seconds: 60) == .exit(0), "\(reader.output)\(reader.errors)")
  }

  @Test func whatIsAwaitedComesAndWhatWasHalfWrittenFails() throws {
    let fixture = try prepared()
    fixture.directory.behave(.with { $0.latency = 1 })
    let list = """
      <opml version="2.0"><body><outline type="rss" xmlUrl="http://127.0.0.1:1/x"/></body></opml>
      """
    let making = try shell(fixture, "mkdir \"$MNT/Search/slow\" && echo made")
    let polling = try shell(
      fixture, "timeout 20 tail -f \"$MNT/.podcastfs/log\" | grep -m 1 -q 'serves the mount'")
    let writing = Glibc.open(fixture.root + "/Subscriptions/x.opml", O_WRONLY | O_CREAT, 0o644)
    #expect(write(writing, list, 40) == 40)
    let opened = Glibc.open(subscribed(fixture, 1), O_RDONLY)
    defer { if opened >= 0 { close(opened) } }
    _ = try killNext(fixture, after: nil)
    // What was open is read on.
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(opened, &bytes, 1000, 1000) == 1000)
    #expect(bytes == Array(fixture.bodies[0].bytes[1000..<2000]))
    #expect(making.waitForOutput(seconds: 30) { $0.contains("made") }, "\(making.errors)")
    #expect(polling.wait(seconds: 30) == .exit(0))
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
    _ = try killNext(fixture, after: nil)
    #expect(eventually { readOn().contains("serves the mount on") })
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    #expect(eventually { readOn().contains("hands the mount on") }, "\(text)")
  }

  /// One that is made anew at each open is read to its end as it was when it was opened.
  @Test func aTextIsReadToItsEndAsItWas() throws {
    let fixture = try prepared()
    for name in [".podcastfs/status.json", "Subscriptions/subscriptions.opml"] {
      let path = "\(fixture.root)/\(name)"
      let whole = try Directories.read(path)
      let file = Glibc.open(path, O_RDONLY)
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      #expect(read(file, &bytes, 10) == 10)
      #expect(try fixture.run("cancel", subscribed(fixture, 1)).end == .exit(0))
      #expect(try fixture.run("unsubscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
      let process = try killNext(fixture, after: nil)
      let count = read(file, &bytes[10], bytes.count - 10)
      #expect(Array(bytes[..<(10 + max(0, count))]) == whole, "\(name)")
      #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
      #expect(try Directories.read(path) != whole)
      #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
      #expect(try fixture.isWhole(subscribed(fixture, 1), 1))
    }
    let texts = fixture.environment.home.path("run") + "/podcastfs/open-texts"
    #expect(try eventually { try Directories.names(in: texts).isEmpty })
  }

  /// What changed just before a death, or while nobody served, does not move what stayed.
  @Test func aWorkingDirectoryStaysInItsPlace() throws {
    let fixture = try prepared()
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

  /// What nobody has read yet, and what happens while no process serves.
  @Test func whoReadsTheEventsMissesNoneOverADeath() throws {
    let fixture = try prepared(size: 600_000, rate: 300_000)
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
    #expect(try fixture.run("cancel", subscribed(fixture, 1)).end == .exit(0))
    #expect(eventually { count("\"remote\"", names[0]) == 1 }, "\(text)")
    // Not read before the death.
    #expect(try fixture.run("cancel", subscribed(fixture, 2)).end == .exit(0))
    let getting = try shell(fixture, "podcastfs get \"\(subscribed(fixture, 3))\"")
    #expect(try eventually { try fixture.attribute("state", subscribed(fixture, 3)) == "downloading" })
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
    #expect(getting.wait(seconds: 60) == .exit(0), "\(getting.errors)")
    #expect(eventually { count("new_episode") == 1 }, "\(text)\n\(fixture.log)")
    #expect(eventually { count("\"cached\"", names[2]) == 1 }, "\(text)\n\(fixture.log)")
    #expect(count("\"remote\"", names[1]) == 1)
    #expect(count("\"remote\"", names[0]) == 1 && count("\"cached\"") == 1 && count("new_episode") == 1)
    #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(text)")
  }

  @Test func whatWasRemovedWhileItWasOpenIsDroppedWhenItIsClosedByTheNext() throws {
    let fixture = try prepared()
    mkfifo(fixture.environment.home.path("go"), 0o600)
    let reader = try RunningProcess(
      "sh", ["-c", "exec 5<\"\(subscribed(fixture, 1))\"; echo open; read -r line <\"$HOME/go\""],
      environment: fixture.environment.variables)
    #expect(reader.waitForOutput { $0.contains("open") })
    #expect(unlink("\(fixture.root)/Downloaded/\(MountFixture.podcast)/\(MountFixture.names[0])") == 0)
    _ = try killNext(fixture, after: nil)
    let state = try fixture.attribute("state", subscribed(fixture, 1))
    #expect(state == "cached", "\(fixture.log)")
    reader.signal(SIGKILL)
    #expect(try eventually { try fixture.attribute("state", subscribed(fixture, 1)) == "remote" })
  }

  @Test func whatWasPausedWhileItWasOpenStaysPaused() throws {
    let fixture = try prepared(size: 3_000_000, rate: 1_000_000)
    let file = Glibc.open(subscribed(fixture, 3), O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(file, &bytes, 1000, 0) == 1000)
    try fixture.set("state", "paused", subscribed(fixture, 3))
    let process = try killNext(fixture, after: nil)
    #expect(pread(file, &bytes, 1000, 0) == 1000)
    #expect(bytes == Array(fixture.bodies[2].bytes[..<1000]))
    #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
    #expect(try fixture.attribute("state", subscribed(fixture, 3)) == "paused")
    #expect(fixture.origin.requests("/3.mp3").count == 1)
  }

  /// Only both at once end the mount.
  @Test func whoKeepsTheMountIsReplacedToo() throws {
    let fixture = try prepared()
    for _ in 0..<2 {
      let keeper = try #require(eventually { fixture.keepers.count == 1 } ? fixture.keepers.first : nil)
      kill(keeper, SIGKILL)
      #expect(eventually { fixture.keepers.count == 1 && fixture.keepers.first != keeper })
      let process = try killNext(fixture, after: nil)
      #expect(try fixture.isWhole(subscribed(fixture, 1), 1))
      #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
    }
  }

  @Test func aMountThatDiesAgainAndAgainIsGivenUp() throws {
    let fixture = try prepared()
    var last: Int32?
    for _ in 0..<3 {
      // From then on its faults are noted; what is asked before may be answered by the one that is dying.
      let begun = last == nil ? "mounted on" : "serves the mount on"
      #expect(
        eventually {
          fixture.mountProcess.map { $0 != last && fixture.log.contains("[\($0)] \(begun)") } ?? false
        }, "\(fixture.log)")
      last = try killNext(fixture, after: last, SIGSEGV)
    }
    #expect(eventually { fixture.log.contains("is given up: its process died again and again (signal 11)") })
    #expect(eventually { fixture.keepers.isEmpty && (try? fixture.list(fixture.root)) == [] })
    let doctor = try fixture.run("doctor")
    #expect(doctor.output.contains("PROBLEM  the mount on \(fixture.root) is given up"), "\(doctor.output)")
    try fixture.mount()
    #expect(try fixture.isWhole(subscribed(fixture, 1), 1))
    #expect(try !fixture.run("doctor").output.contains("given up"))
  }

  /// As when the package was removed meanwhile.
  @Test(arguments: ["removed", "broken"])
  func aProgramThatIsGoneLeavesNoDeadMount(what: String) throws {
    let fixture = try prepared()
    let new = try copyOfTheProgram(fixture)
    #expect(
      try RunningProcess(new, ["restart", fixture.root], environment: fixture.environment.variables).wait()
        == .exit(0))
    if what == "removed" {
      unlink(new)
    } else {
      try Directories.replace(new, with: Array("#!/bin/sh\nexit 1\n".utf8))
      chmod(new, 0o755)
    }
    kill(try #require(fixture.mountProcess), SIGKILL)
    // A dead mount cannot be listed.
    #expect(eventually(within: 60) { (try? fixture.list(fixture.root)) == [] })
    #expect(eventually { fixture.keepers.isEmpty })
    let doctor = try fixture.run("doctor").output
    #expect(doctor.contains("PROBLEM  the mount on \(fixture.root) is gone: its process died"), "\(doctor)")
    try fixture.mount()
    #expect(try !fixture.run("doctor").output.contains("is gone"))
  }

  @Test func aConfigurationThatHasBecomeUnusableEndsNoMount() throws {
    let fixture = try prepared()
    _ = try fixture.environment.home.write("config/podcastfs/config", Array("downloads = foo\n".utf8))
    let process = try #require(fixture.mountProcess)
    #expect(try fixture.run("restart", fixture.root).end == .exit(1))
    #expect(fixture.mountProcess == process)
    _ = try killNext(fixture, after: nil)
    #expect(try fixture.isWhole(subscribed(fixture, 1), 1))
    #expect(fixture.log.contains("the mount goes on without the configuration file"))
  }

  @Test func whoMountsAgainAfterADeathGetsTheNewSettings() throws {
    let fixture = try prepared()
    kill(try #require(fixture.mountProcess), SIGKILL)
    try fixture.mount(options: "min_free=0,cache_size=3G")
    var status = statvfs()
    #expect(
      statvfs(fixture.root, &status) == 0 && UInt64(status.f_blocks) * UInt64(status.f_frsize) == 3 << 30)
    #expect(try fixture.run("mount", fixture.root).errors.contains("already mounted"))
  }

  // MARK: The end

  @Test(arguments: ["unmount", "fusermount3 -u", "TERM", "INT", "HUP"])
  func whatEndsAMountEndsItForGood(way: String) throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(fixture.keepers.count == 1)
    let process = try #require(fixture.mountProcess)
    switch way {
    case "unmount": try fixture.unmount()
    case "fusermount3 -u": #expect(try ChildProcess.run(["fusermount3", "-u", fixture.root]).status == 0)
    default: kill(process, ["TERM": SIGTERM, "INT": SIGINT][way] ?? SIGHUP)
    }
    #expect(eventually { fixture.mountProcess == nil && fixture.keepers.isEmpty })
    #expect(try fixture.list(fixture.root) == [])
  }

  /// A process that has just been started to take the mount over is told to end before it can listen.
  @Test func whatIsToEndTheMountIsNotLostAtTheBeginning() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let first = try killNext(fixture, after: nil)
    _ = try killNext(fixture, after: first, SIGTERM)
    #expect(eventually { fixture.mountProcess == nil && fixture.keepers.isEmpty })
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func whatIsToEndTheMountIsNotLostAtAHandOver() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let process = try #require(fixture.mountProcess)
    kill(process, SIGSTOP)
    kill(process, SIGUSR2)
    kill(process, SIGTERM)
    kill(process, SIGCONT)
    #expect(eventually { fixture.mountProcess == nil && fixture.keepers.isEmpty })
    #expect(try fixture.list(fixture.root) == [])
  }

  /// The process is killed at any moment after it was told to end.
  @Test func whatIsKilledWhileItEndsLeavesNoDeadMount() throws {
    let fixture = try MountFixture()
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<6 {
      try fixture.mount()
      let process = try #require(fixture.mountProcess)
      kill(process, SIGTERM)
      _ = Monitor(false).wait(until: .after(Double.random(in: 0...0.02, using: &generator))) {
        $0 ? true : nil
      }
      kill(process, SIGKILL)
      // It has ended, or was killed before it knew that it should. A dead mount cannot be listed.
      #expect(
        eventually { fixture.mountProcess != process && (try? fixture.list(fixture.root)) != nil },
        "\(fixture.log)")
      try? fixture.unmount()
      #expect(eventually { fixture.mountProcess == nil && fixture.keepers.isEmpty })
    }
  }

  // MARK: Another program

  /// The same program in another place: another version, as far as the mount knows.
  private func copyOfTheProgram(_ fixture: MountFixture) throws -> String {
    let folder = fixture.environment.home.path("new")
    mkdir(folder, 0o755)
    for name in ["podcastfs", "podcastfs-keep", "podcastfs-transferd"] {
      #expect(try ChildProcess.run(["cp", Products.path(name), folder]).status == 0)
    }
    return folder + "/podcastfs"
  }

  private func program(of process: Int32) -> String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
    return count < 0 ? nil : String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  @Test func anotherVersionTakesOverUnseen() throws {
    let fixture = try prepared(size: 3_000_000, rate: 2_000_000)
    let expected = try fixture.environment.home.write("expected", fixture.bodies[2].bytes)
    let reader = try shell(fixture, "exec cmp \"\(subscribed(fixture, 3))\" \"\(expected)\"")
    #expect(
      try eventually {
        try fixture.attribute("bytes_received", subscribed(fixture, 3)).flatMap { Int($0) } ?? 0 > 300_000
      })
    let new = try copyOfTheProgram(fixture)
    func run(_ arguments: String...) throws -> RunningProcess.End? {
      try RunningProcess(new, arguments, environment: fixture.environment.variables).wait()
    }
    // What is wrong is said, and nothing has happened.
    let old = try #require(fixture.mountProcess)
    #expect(try run("mount", "-o", "nonsense", fixture.root) == .exit(64))
    #expect(fixture.mountProcess == old)
    #expect(try run("mount", "-o", "min_free=0,cache_size=2G", fixture.root) == .exit(0))
    let second = try #require(fixture.mountProcess)
    #expect(second != old && program(of: second) == new)
    #expect(
      eventually { fixture.keepers.count == 1 && fixture.keepers.first.flatMap(program) == new + "-keep" })
    var status = statvfs()
    #expect(
      statvfs(fixture.root, &status) == 0 && UInt64(status.f_blocks) * UInt64(status.f_frsize) == 2 << 30)
    // Back to the other one; the settings hold on.
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    let third = try #require(fixture.mountProcess)
    #expect(third != second && program(of: third) != new)
    #expect(
      statvfs(fixture.root, &status) == 0 && UInt64(status.f_blocks) * UInt64(status.f_frsize) == 2 << 30)
    // As root it would hand over the mounts of all other tests too.
    if geteuid() != 0 {
      #expect(try fixture.run("restart", "--all").end == .exit(0))
      #expect(fixture.mountProcess.map { $0 != third } ?? false)
    }
    #expect(reader.wait(seconds: 60) == .exit(0), "\(reader.output)\(reader.errors)")
    #expect(fixture.keepers.count == 1)
  }

  @Test func whatCannotBeRestartedIsSaid() throws {
    let fixture = try MountFixture()
    #expect(try fixture.run("restart", fixture.root).errors.contains("podcastfs is not mounted there"))
    try fixture.mount()
    if geteuid() == 0 {
      // A call that somebody else has left is not taken.
      let places = fixture.environment.home.path("run") + "/podcastfs/mounts"
      let record = try #require(try Directories.names(in: places).first { !$0.contains(".") })
      let strange = Array("/bin/false\0\0".utf8)
      try Directories.replace("\(places)/\(record).call", with: strange)
      chown("\(places)/\(record).call", 65534, 65534)
      let process = try #require(fixture.mountProcess)
      kill(process, SIGUSR2)
      #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
      #expect(
        program(of: try #require(fixture.mountProcess)) == program(of: process) ?? Products.path("podcastfs"))
      #expect(try fixture.list(fixture.root).count == 5)
    }
  }
}
