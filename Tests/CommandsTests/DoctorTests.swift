import CLI
import Configuration
import Glibc
import HTTPKit
import PosixKit
import TestSupport
import Testing
import TransferProtocol

@Suite struct DoctorTests {
  @Test func aDeviceThatIsMissingOrClosedIsAProblemWithItsRemedy() throws {
    let directory = try TemporaryDirectory()
    #expect(MachineChecks.device(directory.path("fuse")).text.contains("modprobe fuse"))
    #expect(!MachineChecks.device("/dev/null").isProblem)
  }

  @Test func aHelperThatDoesNotRunAsRootIsAProblemForOthersThanRoot() throws {
    #expect(MachineChecks.helper(nil).text.contains("apt-get install fuse3"))
  }

  @Test func anOfflineDirectoryThatCannotBeReadIsAProblem() throws {
    let home = try TestEnvironment()
    #expect(try !Products.run("podcastfs", ["doctor"], in: home).output.contains("offline directory"))
    try home.home.write("data/podcastfs/directory/directory.sqlite", "no database")
    let doctor = try Products.run("podcastfs", ["doctor"], in: home)
    #expect(doctor.output.contains("PROBLEM  the offline directory"), "\(doctor.output)")
  }

  @Test func librariesThatCannotDoTheirJobAreProblems() {
    #expect(MachineChecks.libraries(program: "/bin/false").count(where: \.isProblem) == 1)
    #expect(MachineChecks.libraries(program: Products.path("podcastfs")).allSatisfy { !$0.isProblem })
  }

  @Test func aPlaceThatCannotBeMadeIsAProblemThatNamesItsVariable() throws {
    let directory = try TemporaryDirectory()
    try directory.write("file", "x")
    let finding = PlaceChecks.directory(directory.path("file/inside"), "XDG_DATA_HOME")
    #expect(finding.isProblem)
    #expect(finding.text.contains("XDG_DATA_HOME"))
    #expect(!PlaceChecks.directory(directory.path("new/inside"), "XDG_DATA_HOME").isProblem)
  }

  /// As of a disk that was remounted read-only after an error, or is full: its permissions allow everything.
  @Test(.enabled(if: getuid() == 0, "mounting a small disk takes root"), arguments: ["ro", "full"])
  func aDiskThatTakesNothingIsAProblem(_ fault: String) throws {
    let environment = try TestEnvironment()
    let state = environment.home.path("state")
    try Directories.create(state)
    let disk = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", state]
    #expect(try ChildProcess.run(disk).status == 0)
    defer { _ = try? ChildProcess.run(["umount", "-l", state]) }
    try Directories.create(state + "/podcastfs")
    if fault == "ro" {
      #expect(try ChildProcess.run(["mount", "-o", "remount,ro", state]).status == 0)
    } else {
      let fill = try RunningProcess(
        "sh", ["-c", "head -c 1M /dev/zero > \(state)/fill"], environment: environment.variables)
      _ = fill.wait()
    }
    let doctor = try Products.run("podcastfs", ["doctor"], in: environment)
    #expect(doctor.end == .exit(1))
    let why = fault == "ro" ? "Read-only file system" : "No space left on device"
    #expect(doctor.output.contains("\(state)/podcastfs cannot be written: \(why)"), "\(doctor.output)")
    #expect(try Directories.names(in: state + "/podcastfs").allSatisfy { !$0.hasPrefix("doctor") })
  }

  @Test func aConfigurationThatIsNotUnderstoodIsAProblem() throws {
    let environment = try TestEnvironment()
    try environment.home.write("config/podcastfs/config", "downlods = 3\n")
    let (findings, settings) = PlaceChecks.all(environment: environment.variables)
    #expect(settings == nil)
    #expect(findings.filter(\.isProblem).count == 1)
    #expect(findings.contains { $0.text.contains("config:1: unknown key: downlods") })
  }

  @Test func whatHangsUpInTheDaemonsPlaceIsAProblem() throws {
    let environment = try TestEnvironment()
    let places = try Places(environment: environment.variables)
    try places.create()
    #expect(PlaceChecks.answeringDaemon(places, Settings()) == nil)
    let path = places.runtime + "/other.sock"
    let listener = try UnixSocket.listen(at: path)
    let number = listener.rawValue
    let lock = try FileDescriptor(opening: DaemonPlace.lockFile(in: places.state), O_RDWR | O_CREAT)
    let isHeld = lock.tryLock(.exclusive)
    #expect(isHeld)
    try lock.write(Array((path + "\n").utf8), at: 0)
    let hasEnded = Monitor(false)
    PosixThread.start("not a daemon") {
      var wanted = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      while poll(&wanted, 1, 30_000) == 1, wanted.revents == Int16(POLLIN) {
        _ = UnixSocket.accept(on: number)
      }
      hasEnded.withLockNotifying { $0 = true }
    }
    let finding = PlaceChecks.answeringDaemon(places, Settings())
    #expect(
      finding?.isProblem == true && finding?.text.contains("process \(getpid())") == true, "\(finding as Any)"
    )
    shutdown(number, Int32(SHUT_RDWR))
    #expect(hasEnded.wait(until: .after(patience)) { $0 ? true : nil } == true)
    _ = (listener.rawValue, lock.rawValue)
  }

  @Test func aCatalogueThatIsDamagedIsAProblem() throws {
    let environment = try TestEnvironment()
    #expect(try Products.run("podcastfs", ["list"], in: environment).end == .exit(0))
    let path = environment.home.path("data/podcastfs/catalog.sqlite")
    #expect(PlaceChecks.catalogue(path, limit: 1 << 30)?.isProblem == false)
    for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    try environment.home.write("data/podcastfs/catalog.sqlite", [UInt8](repeating: 9, count: 20_000))
    #expect(PlaceChecks.catalogue(path, limit: 1 << 30)?.text.contains("is not a database") == true)
    #expect(PlaceChecks.catalogue(environment.home.path("none"), limit: 1 << 30) == nil)
  }

  @Test func aSearchServiceIsAskedAndItsAnswerJudged() throws {
    let origin = try OriginServer()
    let directory = DirectoryService(on: origin)
    var settings = Settings()
    settings.searchURL = directory.url
    #expect(ServiceChecks.search(settings) == .fine("the search service at 127.0.0.1 answers"))
    let page = origin.serve(
      "/page", OriginResource(Array("<html>Welcome</html>".utf8), mediaType: "text/html"))
    settings.searchURL = page
    #expect(ServiceChecks.search(settings).text.contains("is not a list of podcasts"))
    settings.searchURL = directory.url
    directory.behave(.with { $0.status = 429 })
    #expect(!ServiceChecks.search(settings).isProblem)
    directory.behave(.with { $0.status = 500 })
    #expect(ServiceChecks.search(settings).isProblem)
    origin.stop()
    let away = ServiceChecks.search(settings)
    #expect(away.isProblem && away.text.contains("127.0.0.1"), "\(away.text)")
  }
}
