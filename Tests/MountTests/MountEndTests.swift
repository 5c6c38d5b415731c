import Glibc
import PosixKit
import TestSupport
import Testing

/// What ends a mount ends it for good, and what cannot go on leaves no dead mount.
@Suite struct MountEndTests {
  @Test(arguments: ["unmount", "fusermount3 -u", "TERM", "INT", "HUP"])
  func whatEndsAMountEndsItForGood(way: String) throws {
    let fixture = try MountFixture()
    try fixture.mount()
    // It may be about to become what it is.
    #expect(eventually { fixture.keepers.count == 1 })
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
    let first = try fixture.killNext(after: nil)
    _ = try fixture.killNext(after: first, SIGTERM)
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

  @Test func aMountThatDiesAgainAndAgainIsUnmounted() throws {
    let fixture = try MountFixture.prepared()
    var last: Int32?
    for _ in 0..<10 {
      // From then on its faults are noted; what is asked before may be answered by the one that is dying.
      let begun = last == nil ? "mounted on" : "serves the mount on"
      #expect(
        eventually {
          fixture.mountProcess.map { $0 != last && fixture.log.contains("[\($0)] \(begun)") } ?? false
        }, "\(fixture.log)")
      last = try fixture.killNext(after: last, SIGSEGV)
    }
    #expect(eventually { fixture.keepers.isEmpty && (try? fixture.list(fixture.root)) == [] })
    #expect(fixture.log.contains("has died (signal 11)"))
    try fixture.mount()
    #expect(try fixture.isWhole(fixture.subscribed(1), 1))
  }

  /// As when the package was removed meanwhile.
  @Test(arguments: ["removed", "broken"])
  func aProgramThatIsGoneLeavesNoDeadMount(what: String) throws {
    let fixture = try MountFixture.prepared()
    let new = try fixture.copyOfTheProgram()
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
    #expect(eventually { (try? fixture.list(fixture.root)) == [] })
    #expect(eventually { fixture.keepers.isEmpty })
    try fixture.mount()
  }
}
