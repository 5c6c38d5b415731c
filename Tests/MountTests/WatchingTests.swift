import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing

/// Who watches a folder hears of what happens in it, whoever caused it.
@Suite struct WatchingTests {
  /// inotifywait(1) on some directories, once it listens.
  private func watcher(_ directories: [String], _ fixture: MountFixture) throws -> RunningProcess {
    let process = try RunningProcess(
      "inotifywait", ["--monitor", "--format", "%e %f"] + directories,
      environment: fixture.environment.variables)
    #expect(eventually { process.errors.contains("Watches established") }, "\(process.errors)")
    return process
  }

  private func subscribed(_ count: Int) throws -> MountFixture {
    let fixture = try MountFixture(size: 200_000)
    fixture.publish(count: count)
    try fixture.mount()
    try fixture.makeSearch()
    let subscription = fixture.root + "/Subscriptions/Harbour Lights"
    #expect(rename(fixture.podcastPath, subscription) == 0)
    #expect(try fixture.list(subscription).count == count)
    return fixture
  }

  @Test func aFolderTellsOfNewEpisodes() throws {
    let fixture = try subscribed(1)
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    let watcher = try watcher([folder, fixture.root + "/Latest"], fixture)
    fixture.publish(count: 3)
    #expect(try fixture.run("refresh", folder).end == .exit(0))
    for name in MountFixture.names[1...] {
      #expect(eventually { watcher.output.contains("CREATE \(name)") }, "\(watcher.output)")
    }
    #expect(eventually { watcher.output.contains("CREATE 2024-01-03 - Harbour Lights - Part 3.mp3") })
    // What was told by making it is no more than what was there: nothing was written, and it can't be made.
    #expect(try fixture.isWhole("\(folder)/\(MountFixture.names[1])", 2))
    #expect(open("\(folder)/\(MountFixture.names[2])", O_CREAT | O_EXCL | O_WRONLY, 0o644) < 0)
    #expect(Errno.current == .EEXIST)
    #expect(open("\(folder)/other.mp3", O_CREAT | O_EXCL | O_WRONLY, 0o644) < 0)
    #expect(Errno.current == .EROFS)
  }

  @Test func aFolderThatNobodyHasListedTellsToo() throws {
    let fixture = try MountFixture(size: 100_000)
    fixture.publish(count: 1)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    let before = try fixture.status(folder).st_mtim
    let watcher = try watcher([folder], fixture)
    fixture.publish(count: 3)
    #expect(try fixture.run("refresh", folder).end == .exit(0))
    #expect(eventually { watcher.output.contains("CREATE \(MountFixture.names[2])") }, "\(watcher.output)")
    let after = try fixture.status(folder).st_mtim
    #expect((after.tv_sec, after.tv_nsec) > (before.tv_sec, before.tv_nsec))
  }

  @Test func viewsTellOfWhatComesAndGoes() throws {
    let fixture = try subscribed(3)
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    let watcher = try watcher(
      [folder] + ["Downloading", "Downloaded", "Subscriptions", "Search"].map { "\(fixture.root)/\($0)" },
      fixture)
    #expect(try fixture.run("get", "\(folder)/\(MountFixture.names[0])").end == .exit(0))
    let downloading = "2024-01-01 - Harbour Lights - Part 1.mp3"
    #expect(eventually { watcher.output.contains("CREATE,ISDIR Harbour Lights") }, "\(watcher.output)")
    // It may have been complete before anybody could be told that it was queued.
    #expect(eventually { watcher.output.contains("ATTRIB \(MountFixture.names[0])") }, "\(watcher.output)")
    #expect(try fixture.list(fixture.root + "/Downloading") == ["Failed", "Paused"])
    if watcher.output.contains("CREATE \(downloading)") {
      #expect(eventually { watcher.output.contains("DELETE \(downloading)") }, "\(watcher.output)")
    }
    // By another process than the kernel's caller: the command line.
    #expect(try fixture.run("unsubscribe", "Harbour Lights").end == .exit(0))
    #expect(eventually { watcher.output.contains("DELETE,ISDIR Harbour Lights") }, "\(watcher.output)")
    #expect(try fixture.list(fixture.root + "/Subscriptions") == ["subscriptions.opml"])
  }

  @Test func aFolderTellsOfADownloadedEpisodeThatWasRemovedElsewhere() throws {
    let fixture = try subscribed(3)
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    #expect(try fixture.run("get", "\(folder)/\(MountFixture.names[0])").end == .exit(0))
    let downloaded = fixture.root + "/Downloaded/Harbour Lights"
    // Watchers hear of what a folder had shown: the mount follows a download of another process a moment later.
    #expect(eventually { (try? fixture.list(downloaded)) == [MountFixture.names[0]] })
    let watcher = try watcher([downloaded, fixture.root + "/Latest"], fixture)
    #expect(unlink("\(fixture.root)/Latest/2024-01-01 - Harbour Lights - Part 1.mp3") == 0)
    #expect(eventually { watcher.output.contains("DELETE \(MountFixture.names[0])") }, "\(watcher.output)")
    // The kernel has told of what it took away itself.
    let told = watcher.output.split(separator: "\n").filter { $0.hasPrefix("DELETE 2024-01-01 - Harbour") }
    #expect(told.count == 1, "\(watcher.output)")
  }

  @Test func whoLooksAtANameThatHasJustGoneKeepsNobodyFromHearingOfIt() throws {
    let fixture = try subscribed(2)
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    let watcher = try watcher([folder], fixture)
    // The kernel remembers that there is no such name, from before anybody is told.
    #expect(unlink("\(folder)/\(MountFixture.names[0])") == 0)
    #expect(errnoOf { access("\(folder)/\(MountFixture.names[0])", F_OK) } == .ENOENT)
    #expect(eventually { watcher.output.contains("DELETE \(MountFixture.names[0])") }, "\(watcher.output)")
    // And that there is one.
    fixture.publish(count: 3)
    #expect(try fixture.run("refresh", folder).end == .exit(0))
    #expect(access("\(folder)/\(MountFixture.names[2])", F_OK) == 0)
    #expect(eventually { watcher.output.contains("CREATE \(MountFixture.names[2])") }, "\(watcher.output)")
  }

  @Test func whoWatchesHearsOfEachNameInTurn() throws {
    let fixture = try subscribed(3)
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    let watcher = try watcher([fixture.root + "/Downloading/Paused"], fixture)
    let name = "2024-01-01 - Harbour Lights - Part 1.mp3"
    for _ in 0..<30 {
      for state in ["paused", "remote", "paused", "remote"] {
        try fixture.set("state", state, "\(folder)/\(MountFixture.names[0])")
      }
    }
    try fixture.set("state", "paused", "\(folder)/\(MountFixture.names[1])")
    #expect(eventually { watcher.output.contains("CREATE 2024-01-02") }, "\(watcher.output)")
    let events = watcher.output.split(separator: "\n").filter { $0.hasSuffix(name) }
    let turns = events.map { $0.hasPrefix("CREATE") ? "CREATE" : $0.hasPrefix("DELETE") ? "DELETE" : "" }
      .filter { !$0.isEmpty }
    #expect(turns == turns.indices.map { $0 % 2 == 0 ? "CREATE" : "DELETE" }, "\(watcher.output)")
    #expect(turns.count % 2 == 0, "\(watcher.output)")
  }

  /// Others list the folder and look up what comes and goes in it, again and again: the kernel has always just been told
  /// what is there. A short run here, a long one by PODCASTFS_WATCH_TURNS.
  @Test func whoWatchesHearsOfEachNameOnceBesideOthersWhoLook() throws {
    let fixture = try subscribed(3)
    let folder = fixture.root + "/Downloading/Paused"
    let name = "2024-01-01 - Harbour Lights - Part 1.mp3"
    let file = "\(folder)/\(name)"
    let looks = ["ls -l '\(folder)'", "stat '\(file)'", "test -e '\(file)'", "find '\(fixture.root)'"]
    let others = try looks.map { look in
      try RunningProcess(
        "sh", ["-c", "while :; do \(look); done >/dev/null 2>&1"], environment: fixture.environment.variables)
    }
    defer { for other in others { other.signal(SIGKILL) } }
    let watcher = try watcher([folder], fixture)
    func count(_ event: String) -> Int {
      watcher.output.split(separator: "\n").count { $0 == "\(event) \(name)" }
    }
    let episode = "\(fixture.root)/Subscriptions/Harbour Lights/\(MountFixture.names[0])"
    let turns = Places.processEnvironment["PODCASTFS_WATCH_TURNS"].flatMap { Int($0) } ?? 5
    for turn in 1...turns {
      try fixture.set("state", "paused", episode)
      try #require(eventually { count("CREATE") >= turn }, "turn \(turn)\n\(watcher.output.suffix(500))")
      try fixture.set("state", "remote", episode)
      try #require(eventually { count("DELETE") >= turn }, "turn \(turn)\n\(watcher.output.suffix(500))")
    }
    #expect(count("CREATE") == turns && count("DELETE") == turns)
  }

  /// A search that is being made has its folder locked, also for who has to tell of what has gone there.
  @Test func aFolderThatIsLockedKeepsNobodyFromHearingOfAnother() throws {
    let fixture = try subscribed(3)
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(at: second)
    #expect(try fixture.list(fixture.root + "/Search") == [MountFixture.search])
    let watcher = try watcher(["Search", "Downloading/Paused"].map { "\(fixture.root)/\($0)" }, fixture)
    fixture.directory.behave(.with { $0.latency = 30 })
    let asked = fixture.origin.requests.count
    let search = try RunningProcess(
      "mkdir", ["\(fixture.root)/Search/slow"], environment: fixture.environment.variables)
    #expect(fixture.origin.wait { $0.count > asked })
    #expect(rmdir("\(second)/Search/\(MountFixture.search)") == 0)
    let name = "2024-01-01 - Harbour Lights - Part 1.mp3"
    for (state, event) in [("paused", "CREATE"), ("remote", "DELETE")] {
      try fixture.set("state", state, "\(second)/Subscriptions/Harbour Lights/\(MountFixture.names[0])")
      #expect(eventually { watcher.output.contains("\(event) \(name)") }, "\(watcher.output)")
    }
    #expect(search.wait(seconds: 0) == nil, "the search ended before this was told: \(search.errors)")
    search.signal(SIGTERM)
    #expect(search.wait(seconds: 10) == .signal(SIGTERM))
    #expect(
      eventually { watcher.output.contains("DELETE,ISDIR \(MountFixture.search)") }, "\(watcher.output)")
  }

  /// Who is still in one that has gone has that one; all others the new one.
  @Test func aFolderThatHasGoneAndComeAgainIsANewOneForEverybodyElse() throws {
    let fixture = try subscribed(3)
    let episode = fixture.root + "/Subscriptions/Harbour Lights/\(MountFixture.names[0])"
    let downloaded = fixture.root + "/Downloaded"
    let folder = downloaded + "/Harbour Lights"
    let watcher = try watcher([downloaded], fixture)
    func count(_ event: String) -> Int {
      watcher.output.split(separator: "\n").count { $0 == "\(event),ISDIR Harbour Lights" }
    }
    var within: [Int32] = []
    defer { for directory in within { close(directory) } }
    for turn in 1...3 {
      #expect(try fixture.run("get", episode).end == .exit(0))
      #expect(try fixture.list(folder) == [MountFixture.names[0]])
      #expect(try fixture.isWhole("\(folder)/\(MountFixture.names[0])", 1))
      within.append(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
      #expect(eventually { count("CREATE") == turn }, "\(watcher.output)")
      try fixture.set("state", "remote", episode)
      #expect(eventually { count("DELETE") == turn }, "\(watcher.output)")
    }
  }

  /// What the process before knew of the folder, the next one reads: nobody looks it up again.
  @Test(arguments: [true, false]) func whoWatchesHearsOfWhatHappensAfterTheProcessWasReplaced(
    isKilled: Bool
  ) throws {
    let fixture = try subscribed(1)
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(at: second)
    let watcher = try watcher(["Search", "Subscriptions"].map { "\(fixture.root)/\($0)" }, fixture)
    if isKilled {
      _ = try fixture.killNext(after: nil)
    } else {
      #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    }
    #expect(eventually { fixture.log.contains("serves the mount on \(fixture.root) from now on") })
    #expect(mkdir("\(second)/Search/other", 0o755) == 0)
    #expect(eventually { watcher.output.contains("CREATE,ISDIR other") }, "\(watcher.output)")
    #expect(try fixture.run("unsubscribe", "Harbour Lights").end == .exit(0))
    #expect(eventually { watcher.output.contains("DELETE,ISDIR Harbour Lights") }, "\(watcher.output)")
  }

  @Test func aResultThatWasRemovedElsewhereIsToldInASearchThatNobodyHasListed() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    try fixture.makeSearch()
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(at: second)
    let watcher = try watcher(["\(second)/Search/\(MountFixture.search)"], fixture)
    #expect(rmdir(fixture.podcastPath) == 0)
    #expect(
      eventually { watcher.output.contains("DELETE,ISDIR \(MountFixture.podcast)") }, "\(watcher.output)")
  }

  @Test func aFolderThatWasRenamedInAnotherMountLeavesItsOldName() throws {
    let fixture = try subscribed(1)
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(at: second)
    let subscriptions = fixture.root + "/Subscriptions"
    #expect(try fixture.list(subscriptions).count == 2)
    let within = open(subscriptions + "/Harbour Lights", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(within) }
    let watcher = try watcher([subscriptions, fixture.root + "/Search"], fixture)
    for (old, new) in [("Harbour Lights", "Lights"), ("Lights", "Harbour")] {
      #expect(rename("\(second)/Subscriptions/\(old)", "\(second)/Subscriptions/\(new)") == 0)
      #expect(eventually { watcher.output.contains("CREATE,ISDIR \(new)\n") }, "\(watcher.output)")
      let events = watcher.output.split(separator: "\n").filter { $0.contains("ISDIR") }.suffix(2)
      #expect(events == ["DELETE,ISDIR \(old)", "CREATE,ISDIR \(new)"], "\(watcher.output)")
    }
    // It is still a living folder, also for who is in it.
    #expect(try fixture.list(subscriptions + "/Harbour") == [MountFixture.names[0]])
    #expect(faccessat(within, MountFixture.names[0], F_OK, 0) == 0)
    let search = "\(second)/Search/"
    #expect(rename(search + MountFixture.search, search + "other") == 0)
    #expect(
      eventually { watcher.output.contains("DELETE,ISDIR \(MountFixture.search)") }, "\(watcher.output)")
  }

  @Test func whatWasMovedIsNotDeletedOnceMore() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let subscriptions = fixture.root + "/Subscriptions"
    let watcher = try watcher([fixture.searchPath, subscriptions], fixture)
    #expect(rename(fixture.podcastPath, "\(subscriptions)/Harbour Lights") == 0)
    #expect(rename("\(subscriptions)/Harbour Lights", "\(subscriptions)/Lights") == 0)
    // What is told later than anything of these.
    fixture.origin.serve(
      "/other.xml", OriginResource(TestFeed("Other").xml, mediaType: "application/rss+xml"))
    #expect(try fixture.run("subscribe", fixture.origin.url("/other.xml")).end == .exit(0))
    #expect(eventually { watcher.output.contains("CREATE,ISDIR Other") }, "\(watcher.output)")
    let events = watcher.output.split(separator: "\n").filter { $0.hasSuffix("Lights") }
    #expect(
      events == [
        "MOVED_FROM,ISDIR Harbour Lights", "MOVED_TO,ISDIR Harbour Lights",
        "MOVED_FROM,ISDIR Harbour Lights", "MOVED_TO,ISDIR Lights",
      ], "\(watcher.output)")
  }

  @Test func whoEntersAFolderThatWasJustMovedStaysThere() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let script =
      "mv '\(fixture.podcastPath)' '\(fixture.root)/Subscriptions/' && cd '\(fixture.root)/Subscriptions/Harbour Lights'"
      + " && for i in 1 2 3 4 5; do ls . >/dev/null; readlink /proc/self/cwd; done"
    let shell = try RunningProcess("sh", ["-c", script], environment: fixture.environment.variables)
    #expect(shell.wait() == .exit(0), "\(shell.errors)")
    let places = shell.output.split(separator: "\n").map(String.init)
    #expect(places == Array(repeating: "\(fixture.root)/Subscriptions/Harbour Lights", count: 5))
  }

  @Test func eventsCanBeReadWithoutWaiting() throws {
    let fixture = try subscribed(3)
    let file = open(fixture.root + "/.podcastfs/events", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    var text = ""
    func readOn() -> Int {
      let count = Glibc.read(file, &buffer, buffer.count)
      text += String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
      return count
    }
    // What the mount does by itself at its start may be told now.
    #expect(
      eventually {
        readOn() == -1 && Errno.current == .EAGAIN
      })
    let episode = "\(fixture.root)/Subscriptions/Harbour Lights/\(MountFixture.names[1])"
    var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 50) == 0)
    try fixture.set("state", "paused", episode)
    #expect(
      eventually {
        _ = poll(&entry, 1, 1000)
        if entry.revents & Int16(POLLIN) == 0 || readOn() <= 0 { return false }
        return text.contains("\"event\":\"state\"")
      }, "\(text)")
  }
}
