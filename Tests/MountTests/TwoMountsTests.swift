import Glibc
import PosixKit
import TestSupport
import Testing

/// Two mounts of one user show the same.
@Suite struct TwoMountsTests {
  private func mountedTwice() throws -> (MountFixture, first: String, second: String) {
    let fixture = try MountFixture(size: 200_000)
    try fixture.mount()
    try fixture.makeSearch()
    let inFolder = "/Subscriptions/Harbour Lights"
    #expect(rename(fixture.podcastPath, fixture.root + inFolder) == 0)
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(at: second)
    #expect(try fixture.list(fixture.root + inFolder).count == 3)
    #expect(try fixture.list(second + inFolder).count == 3)
    return (fixture, fixture.root + inFolder, second + inFolder)
  }

  /// They share one index: the mount that writes to it tells the other.
  @Test func aTranscriptThatIsCopiedIntoOneIsFoundInBoth() throws {
    let (fixture, first, second) = try mountedTwice()
    let search = "/Search/transcript:zebra"
    #expect(mkdir(fixture.root + search, 0o755) == 0)
    let roots = [fixture.root, fixture.root + "2"]
    for (count, folder) in [first, second, first].enumerated() {
      // The other mount hears of the search a moment later.
      for root in roots { #expect(eventually { (try? fixture.list(root + search).count) == count }) }
      let own = "\(folder)/\(MountFixture.names[count].dropLast(4)).vtt"
      let file = try FileDescriptor(opening: own, O_WRONLY | O_CREAT)
      try Array("WEBVTT\n\n00:01.000 --> 00:02.000\nzebra\n".utf8).withUnsafeBytes { try file.append($0) }
    }
    for root in roots { #expect(try eventually { try fixture.list(root + search).count == 3 }) }
  }

  /// The other mount knows nothing of its readers: the daemon does.
  @Test(arguments: ["played", "rm"]) func aReaderInOneMountOutlivesADropInTheOther(_ how: String) throws {
    let (fixture, first, second) = try mountedTwice()
    let name = MountFixture.names[2]
    var resource = OriginResource(TestBody(seed: 9, size: 3_000_000))
    resource.behaviour.rate = 1_000_000
    fixture.origin.serve("/3.mp3", resource)
    try fixture.set("after_played", "drop", first)
    let file = open("\(second)/\(name)", O_RDONLY)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var total = max(read(file, &buffer, buffer.count), 0)
    #expect(total > 0)
    if how == "rm" {
      let views = try fixture.list(fixture.root + "/Latest").filter { $0.hasPrefix("2024-01-03") }
      #expect(unlink(fixture.root + "/Latest/\(try #require(views.first))") == 0)
    } else {
      try fixture.set("played", "1", "\(first)/\(name)")
    }
    for root in [fixture.root, fixture.root + "2"] {
      #expect(try eventually { try fixture.list(root + "/Downloading") == ["Failed", "Paused"] })
    }
    while true {
      let count = read(file, &buffer, buffer.count)
      #expect(count >= 0, "\(total): \(errno)")
      if count <= 0 { break }
      total += count
    }
    #expect(total == 3_000_000)
    #expect(try fixture.attribute("state", "\(first)/\(name)") != "remote")
    close(file)
    #expect(try eventually { try fixture.attribute("state", "\(first)/\(name)") == "remote" })
  }

  /// A search that is being made has its directory locked; a name in there that is to be told waits for that.
  @Test func aDirectoryThatIsLockedHoldsUpNoOther() throws {
    let (fixture, first, _) = try mountedTwice()
    let searches = fixture.root + "/Search"
    #expect(try fixture.list(searches) == [MountFixture.search])
    fixture.directory.behave(.with { $0.latency = 30 })
    let asked = fixture.origin.requests.count
    let search = try RunningProcess(
      "mkdir", ["\(searches)/slow"], environment: fixture.environment.variables)
    #expect(fixture.origin.wait { $0.count > asked })
    // The other mount forgets a search: this one has to tell of a name in the directory that is locked.
    #expect(rmdir("\(fixture.root)2/Search/\(MountFixture.search)") == 0)
    fixture.publish(count: 2)
    let name = MountFixture.names[2]
    #expect(unlink("\(first)/\(name)") == 0)
    #expect(try fixture.list(first) == Array(MountFixture.names.dropLast()))
    #expect(
      eventually {
        errnoOf { access("\(fixture.root)2/Subscriptions/Harbour Lights/\(name)", F_OK) } == .ENOENT
      })
    try fixture.set("state", "paused", "\(first)/\(MountFixture.names[0])")
    #expect(try fixture.list(fixture.root + "/Downloading/Paused").count == 1)
    #expect(search.wait(seconds: 0) == nil, "the search ended before all this was seen: \(search.errors)")
    search.signal(SIGTERM)
    #expect(search.wait() == .signal(SIGTERM))
  }

  @Test func aStoppedMountDelaysNoVerbOfTheOther() throws {
    let (fixture, first, second) = try mountedTwice()
    let process = try #require(fixture.mountProcess(at: fixture.root + "2"))
    kill(process, SIGSTOP)
    defer { kill(process, SIGCONT) }
    let start = MonotonicTime.now
    for _ in 0..<20 {
      for value in ["1", "0"] { try fixture.set("played", value, "\(first)/\(MountFixture.names[0])") }
    }
    for name in MountFixture.names { #expect(unlink("\(first)/\(name)") == 0) }
    // A second for each of these is forty: a busy machine takes a fraction of that.
    #expect(MonotonicTime.now.seconds(since: start) < 20)
    #expect(try fixture.list(first) == [])
    kill(process, SIGCONT)
    #expect(try eventually { try fixture.list(second) == [] })
  }

  /// A fault's core dump waits for all threads: for one that waits in the kernel for a directory's lock, too, and that
  /// for the answer which the next process is to give.
  @Test func aFaultWhileANameWaitsForItsDirectoryIsADeathAsAnyOther() throws {
    let (fixture, first, _) = try mountedTwice()
    let process = try #require(fixture.mountProcess)
    fixture.directory.behave(.with { $0.latency = 30 })
    let asked = fixture.origin.requests.count
    let search = try RunningProcess(
      "mkdir", ["\(fixture.root)/Search/slow"], environment: fixture.environment.variables)
    #expect(fixture.origin.wait { $0.count > asked })
    #expect(rmdir("\(fixture.root)2/Search/\(MountFixture.search)") == 0)
    let threads = "/proc/\(process)/task"
    #expect(
      try eventually {
        try Directories.names(in: threads).contains { thread in
          let text = String(
            decoding: (try? Directories.read("\(threads)/\(thread)/stat")) ?? [], as: UTF8.self)
          return text.contains("(kernel-held) D")
        }
      })
    kill(process, SIGSEGV)
    #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false }, "\(fixture.log)")
    #expect(try fixture.list(first).count == 3)
    search.signal(SIGTERM)
    #expect(search.wait() == .signal(SIGTERM))
  }

  @Test func viewsHaveTheTimeOfTheirLastChangeInBoth() throws {
    let (fixture, first, second) = try mountedTwice()
    func times(_ root: String) throws -> [[Int]] {
      try ["Downloading/Paused", "Latest"].map {
        let time = try fixture.status("\(root)/\($0)").st_mtim
        return [time.tv_sec, time.tv_nsec]
      }
    }
    #expect(try fixture.list(fixture.root + "/Latest") == (try fixture.list(fixture.root + "2/Latest")))
    var last: [[Int]] = []
    for step in 0..<20 {
      let (folder, state) = (step % 4 < 2 ? first : second, step % 2 == 0 ? "paused" : "remote")
      try fixture.set("state", state, "\(folder)/\(MountFixture.names[0])")
      #expect(try eventually { try times(fixture.root) != last }, "step \(step)")
      let now = try times(fixture.root)
      #expect(try eventually { try times(fixture.root + "2") == now }, "step \(step)")
      last = now
    }
    #expect(unlink("\(second)/\(MountFixture.names[2])") == 0)
    #expect(try fixture.list(fixture.root + "2/Latest").count == 2)
    #expect(try eventually { try fixture.list(fixture.root + "/Latest").count == 2 })
    #expect(try eventually { try times(fixture.root) == times(fixture.root + "2") })
  }

  /// Which has let the download go there, as a sweep's.
  @Test func whatOneMountHasPausedIsResumedByAnyOpenInTheOther() throws {
    let (fixture, first, second) = try mountedTwice()
    let name = MountFixture.names[0]
    let body = TestBody(seed: 9, size: 3_000_000)
    var resource = OriginResource(body)
    resource.behaviour.rate = 100_000
    fixture.origin.serve("/1.mp3", resource)
    let script = """
      for i in 1 2 3 4 5 6 7 8 9; do exec 3<"$2"; exec 3<&-; done
      setfattr -n user.podcastfs.state -v paused "$1"
      exec 3<"$2"
      dd bs=4096 skip=500 count=1 status=none <&3
      """
    let reader = try RunningProcess(
      "sh", ["-c", script, "sh", "\(first)/\(name)", "\(second)/\(name)"],
      environment: fixture.environment.variables)
    #expect(reader.wait(seconds: 90) == .exit(0), "\(reader.errors)")
    #expect(reader.errors == "")
    // It was somebody's before the reader came, and goes on behind it.
    #expect(["queued", "downloading"].contains(try fixture.attribute("state", "\(first)/\(name)")))
  }

  @Test func whatOneMountHasOrderedIsSeenInTheOtherSoon() throws {
    let (fixture, first, second) = try mountedTwice()
    let name = MountFixture.names[0]
    let downloading = fixture.root + "2/Downloading/Paused"
    for state in ["paused", "remote", "paused", "remote"] {
      try fixture.set("state", state, "\(first)/\(name)")
      #expect(try fixture.attribute("state", "\(first)/\(name)") == state)
      #expect(try eventually { try fixture.attribute("state", "\(second)/\(name)") == state })
      #expect(try eventually { try fixture.list(downloading).isEmpty == (state == "remote") })
    }
    #expect(try fixture.run("pause", "\(second)/\(name)").end == .exit(0))
    #expect(try eventually { try fixture.attribute("state", "\(first)/\(name)") == "paused" })
    #expect(try fixture.run("cancel", "\(second)/\(name)").end == .exit(0))
    #expect(try eventually { try fixture.attribute("state", "\(first)/\(name)") == "remote" })
  }

  @Test func whatGetHasFetchedIsSeenInTheOtherSoon() throws {
    let (fixture, first, second) = try mountedTwice()
    let name = MountFixture.names[0]
    for _ in 0..<8 {
      #expect(try fixture.run("get", "\(first)/\(name)").end == .exit(0))
      #expect(try eventually { try fixture.attribute("state", "\(second)/\(name)") == "cached" })
      #expect(try eventually { try fixture.list(fixture.root + "2/Downloaded").count == 1 })
      #expect(try eventually { try fixture.list(fixture.root + "2/Downloading") == ["Failed", "Paused"] })
      #expect(try fixture.run("cancel", "\(first)/\(name)").end == .exit(0))
    }
  }
}
