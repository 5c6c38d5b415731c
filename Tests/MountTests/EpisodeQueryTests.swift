import Glibc
import PosixKit
import TestSupport
import Testing

/// Searches for episodes, what is paused and failed, and the queue, in a mount.
@Suite struct EpisodeQueryTests {
  private static let mixed = (1...3).map { "2024-01-0\($0) - Harbour Lights - Part \($0).mp3" }

  /// With the podcast followed.
  private func subscribed(size: Int64 = 200_000, rate: Int64? = nil) throws -> (MountFixture, folder: String)
  {
    let fixture = try MountFixture(size: size, rate: rate)
    try fixture.mount(options: "min_free=0,queue_ahead=0")
    try fixture.makeSearch()
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    #expect(rename(fixture.podcastPath, folder) == 0)
    #expect(try fixture.list(folder).count == 3)
    return (fixture, folder)
  }

  @Test func `A search for episodes follows what happens to them`() throws {
    let (fixture, folder) = try subscribed()
    let requests = fixture.origin.requests.count
    let search = fixture.root + "/Search/is:unplayed newer:2024-01-02"
    #expect(errnoOf { mkdir(search, 0o755) } == nil)
    #expect(try fixture.list(search) == Array(Self.mixed[1...]))
    #expect(fixture.origin.requests.count == requests)
    #expect(try fixture.attribute("query", search) == "is:unplayed newer:2024-01-02")
    #expect(try fixture.attribute("result_count", search) == "2")
    let (one, other) = (
      try fixture.status("\(search)/\(Self.mixed[1])"),
      try fixture.status("\(folder)/\(MountFixture.names[1])")
    )
    #expect(one.st_ino == other.st_ino && one.st_nlink == 3 && other.st_nlink == 3)
    try fixture.set("played", "1", "\(folder)/\(MountFixture.names[1])")
    #expect(try fixture.list(search) == [Self.mixed[2]])
    // As in the inbox: it is played then, and stays in its show.
    #expect(unlink("\(search)/\(Self.mixed[2])") == 0)
    #expect(try fixture.list(search).isEmpty && fixture.list(folder).count == 3)
    #expect(try fixture.attribute("played", "\(folder)/\(MountFixture.names[2])") == "1")
    #expect(errnoOf { mkdir(fixture.root + "/Search/newer:soon", 0o755) } == .EINVAL)
    #expect(try fixture.list(fixture.root + "/Search").count == 2)
    try fixture.set("played", "0", "\(folder)/\(MountFixture.names[2])")
    try fixture.unmount()
    try fixture.mount()
    #expect(try fixture.list(search) == [Self.mixed[2]])
  }

  @Test func `A search for podcasts becomes one for episodes and back`() throws {
    let (fixture, _) = try subscribed()
    let (podcasts, episodes) = (
      fixture.root + "/Search/harbour", fixture.root + "/Search/episode:part sort:oldest"
    )
    #expect(errnoOf { mkdir(podcasts, 0o755) } == nil)
    #expect(try fixture.list(podcasts) == [MountFixture.podcast])
    #expect(rename(podcasts, episodes) == 0)
    #expect(try fixture.list(episodes) == Self.mixed)
    #expect(rename(episodes, podcasts) == 0)
    #expect(try fixture.list(podcasts) == [MountFixture.podcast])
    #expect(rename(podcasts, fixture.root + "/Search/is:cached") == 0)
    #expect(try fixture.list(fixture.root + "/Search/is:cached").isEmpty)
    #expect(try fixture.run("get", "\(fixture.root)/Latest/\(Self.mixed[0])").end == .exit(0))
    #expect(try fixture.list(fixture.root + "/Search/is:cached") == [Self.mixed[0]])
  }

  @Test func `Moving an episode downloads, pauses and resumes it, and it stays where it was`() throws {
    let (fixture, folder) = try subscribed(size: 3_000_000, rate: 200_000)
    let (running, paused) = (fixture.root + "/Downloading", fixture.root + "/Downloading/Paused")
    func move(_ from: String, _ to: String) throws {
      let process = try RunningProcess("mv", [from, to], environment: fixture.environment.variables)
      #expect(process.wait() == .exit(0), "\(process.errors)")
    }
    func state() throws -> String? { try fixture.attribute("state", "\(folder)/\(MountFixture.names[0])") }
    try move("\(folder)/\(MountFixture.names[0])", running + "/")
    #expect(try fixture.list(folder) == MountFixture.names)
    #expect(try ["queued", "downloading"].contains(state()))
    #expect(try fixture.list(running) == [Self.mixed[0], "Failed", "Paused"])
    #expect(eventually { errnoOf { access("\(running)/\(MountFixture.names[0])", F_OK) } == .ENOENT })
    try move("\(running)/\(Self.mixed[0])", paused + "/")
    #expect(try state() == "paused")
    #expect(try fixture.list(running) == ["Failed", "Paused"] && fixture.list(paused) == [Self.mixed[0]])
    try move("\(paused)/\(Self.mixed[0])", running + "/")
    #expect(try fixture.list(running) == [Self.mixed[0], "Failed", "Paused"] && fixture.list(paused).isEmpty)
    // From Latest/ it has the same name in both: both are there.
    try move("\(fixture.root)/Latest/\(Self.mixed[1])", running + "/")
    #expect(try fixture.list(fixture.root + "/Latest") == Self.mixed)
    #expect(try fixture.list(running) == Array(Self.mixed[..<2]) + ["Failed", "Paused"])
    #expect(link("\(folder)/\(MountFixture.names[2])", "\(running)/\(MountFixture.names[2])") == 0)
    #expect(try fixture.list(running) == Self.mixed + ["Failed", "Paused"])
    #expect(try fixture.status("\(running)/\(Self.mixed[2])").st_nlink == 3)
    #expect(errnoOf { rename("\(folder)/\(MountFixture.names[0])", "\(fixture.root)/Latest/x") } == .EPERM)
    #expect(errnoOf { link("\(folder)/\(MountFixture.names[0])", "\(fixture.root)/Latest/x") } == .EROFS)
    #expect(errnoOf { rmdir(paused) } != nil)
  }

  @Test func `Several episodes are moved by one mv, which inspects the names that it has given`() throws {
    let (fixture, folder) = try subscribed()
    let queue = fixture.root + "/Queue", given = "\(queue)/x"
    func run(_ program: String, _ arguments: [String]) throws -> RunningProcess.End? {
      try RunningProcess(program, arguments, environment: fixture.environment.variables).wait()
    }
    for _ in 1...10 {
      #expect(try run("mv", MountFixture.names.map { "\(folder)/\($0)" } + [queue + "/"]) == .exit(0))
      let names = try fixture.list(queue)
      #expect(names.count == 3 && Set(names).isDisjoint(with: MountFixture.names))
      for name in names { #expect(unlink("\(queue)/\(name)") == 0) }
    }
    #expect(rename("\(folder)/\(MountFixture.names[0])", given) == 0)
    #expect(eventually { errnoOf { access(given, F_OK) } == .ENOENT })
  }

  @Test func `Moving a failed download tries it again`() throws {
    let (fixture, folder) = try subscribed()
    let running = fixture.root + "/Downloading"
    var gone = OriginResource("gone", mediaType: "text/plain")
    gone.behaviour.status = 404
    fixture.origin.serve("/1.mp3", gone)
    let episode = "\(folder)/\(MountFixture.names[0])"
    try fixture.set("state", "downloading", episode)
    #expect(try eventually { try fixture.list(running + "/Failed") == [Self.mixed[0]] })
    fixture.origin.serve("/1.mp3", OriginResource(fixture.bodies[0]))
    #expect(rename("\(running)/Failed/\(Self.mixed[0])", "\(running)/\(Self.mixed[0])") == 0)
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    #expect(try fixture.list(running + "/Failed").isEmpty)
  }

  @Test func `The queue holds what is moved to it, in order, until it is played`() throws {
    let (fixture, folder) = try subscribed()
    let queue = fixture.root + "/Queue"
    #expect(try fixture.list(queue).isEmpty)
    let names = (1...3).map { "00\($0) - Harbour Lights - Part \($0).mp3" }
    #expect(rename("\(folder)/\(MountFixture.names[0])", "\(queue)/\(MountFixture.names[0])") == 0)
    #expect(link("\(fixture.root)/Latest/\(Self.mixed[1])", "\(queue)/\(Self.mixed[1])") == 0)
    #expect(rename("\(folder)/\(MountFixture.names[2])", "\(queue)/x") == 0)
    #expect(try fixture.list(queue) == names && fixture.list(folder) == MountFixture.names)
    #expect(eventually { errnoOf { access("\(queue)/x", F_OK) } == .ENOENT })
    #expect(try fixture.status("\(queue)/\(names[0])").st_nlink == 3)
    let tags = try ExtendedAttributes.get("user.xdg.tags", of: "\(queue)/\(names[0])")
    #expect(tags == "unplayed,queued")
    #expect(rename("\(queue)/\(names[2])", "\(queue)/001 - Harbour Lights - Part 3.mp3") == 0)
    let moved = [
      "001 - Harbour Lights - Part 3.mp3", "002 - Harbour Lights - Part 1.mp3",
      "003 - Harbour Lights - Part 2.mp3",
    ]
    #expect(try fixture.list(queue) == moved)
    #expect(try fixture.isWhole("\(queue)/\(moved[0])", 3))
    #expect(errnoOf { rename("\(queue)/\(moved[0])", "\(queue)/first") } == .EPERM)
    // Others keep their names: a player has them in its list.
    try fixture.set("played", "1", "\(folder)/\(MountFixture.names[2])")
    #expect(try fixture.list(queue) == Array(moved[1...]))
    #expect(unlink("\(queue)/\(moved[1])") == 0)
    #expect(try fixture.list(queue) == [moved[2]] && fixture.list(folder) == MountFixture.names)
    #expect(try fixture.attribute("played", "\(folder)/\(MountFixture.names[0])") == "0")
    try fixture.unmount()
    try fixture.mount()
    #expect(try fixture.list(queue) == [moved[2]])
    // What comes next is downloaded ahead.
    #expect(try eventually { try fixture.attribute("state", "\(queue)/\(moved[2])") == "cached" })
  }

  @Test func `Who watches hears of an episode that stays where it was`() throws {
    let (fixture, folder) = try subscribed()
    let watcher = try RunningProcess(
      "inotifywait", ["--monitor", "--format", "%w %e %f", folder, fixture.root + "/Queue"],
      environment: fixture.environment.variables)
    #expect(eventually { watcher.errors.contains("Watches established") }, "\(watcher.errors)")
    let name = MountFixture.names[0]
    #expect(rename("\(folder)/\(name)", "\(fixture.root)/Queue/\(name)") == 0)
    for event in [
      "\(folder)/ CREATE \(name)", "/Queue/ DELETE \(name)",
      "/Queue/ CREATE 001 - Harbour Lights - Part 1.mp3",
    ] {
      #expect(eventually { watcher.output.contains(event) }, "\(event)\n\(watcher.output)")
    }
  }
}
