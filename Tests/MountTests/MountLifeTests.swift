import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// How a mount begins and ends, as far as other programs are concerned.
@Suite struct MountLifeTests {
  /// Runs a shell's script with the built program as `podcastfs` and the mount point as `$MNT`.
  private func shell(_ fixture: MountFixture, _ script: String) throws -> RunningProcess {
    var variables = fixture.environment.variables
    let program = Products.path("podcastfs")
    variables["PATH"] = program.dropLast("/podcastfs".count) + ":" + Products.searchPath
    variables["MNT"] = fixture.root
    return try RunningProcess("sh", ["-c", script], environment: variables)
  }

  @Test func aDeadMountIsClearedThoughTheKernelRemembersItsRoot() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    _ = try fixture.status(fixture.root)
    try fixture.killForGood()
    #expect(eventually { fixture.mountProcess == nil })
    try fixture.mount()
    #expect(try fixture.list(fixture.root).count == 6)
  }

  @Test func theMountKeepsNothingOpenThatItsCallerHad() throws {
    let fixture = try MountFixture()
    let script = """
      exec 9> "$HOME/lock" && flock -n 9 && podcastfs mount -o min_free=0 "$MNT" 7> "$HOME/other" || exit 2
      exec 9>&-
      flock -n "$HOME/lock" true
      """
    let process = try shell(fixture, script)
    #expect(process.wait() == .exit(0), "\(process.errors)")
    let mount = try #require(fixture.mountProcess)
    let open = try Directories.names(in: "/proc/\(mount)/fd").compactMap { name -> String? in
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/\(mount)/fd/\(name)", &buffer, buffer.count)
      return count < 0 ? nil : String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    #expect(!open.contains { $0.hasSuffix("/lock") || $0.hasSuffix("/other") })
  }

  @Test func theCommandForCompleteDownloadsHasTheUsersUmask() throws {
    let fixture = try MountFixture()
    let script = """
      umask 026
      podcastfs mount -o 'min_free=0,on_complete=umask > "$HOME/mask"' "$MNT"
      """
    #expect(try shell(fixture, script).wait() == .exit(0))
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(try fixture.run("get", fixture.episode(1)).end == .exit(0))
    let file = fixture.environment.home.path("mask")
    #expect(eventually { (try? Directories.read(file)) == Array("0026\n".utf8) })
  }

  @Test(.enabled(if: getuid() == 0 && Products.isInstalled("setpriv") && Products.isInstalled("prlimit")))
  func aThreadOrProcessThatCannotStartDoesNotEndTheMount() throws {
    let fixture = try MountFixture()
    let home = fixture.environment.home
    for program in ["podcastfs", "podcastfs-transferd"] {
      try home.write("bin/\(program)", try Directories.read(Products.path(program), limit: 1 << 30))
      chmod(home.path("bin/\(program)"), 0o755)
    }
    try home.write(
      "list.opml", "<opml version='2.0'><body><outline type='rss' xmlUrl='http://[::1]:9/f'/></body></opml>")
    let script = """
      set -e
      bin/podcastfs mount -o min_free=0 mnt
      mount=$(pgrep -u 65534 -f "background.*mnt" | tail -n 1)
      prlimit --pid "$mount" --nproc=1:
      # A list is parsed by a process of its own, which cannot start.
      ! cp list.opml mnt/Subscriptions/
      ls mnt/Subscriptions
      kill -0 "$mount"
      prlimit --pid "$mount" --nproc="$(prlimit --pid "$mount" --nproc --noheadings --output HARD):"
      cp list.opml mnt/Subscriptions/
      grep xmlUrl mnt/Subscriptions/subscriptions.opml
      """
    try home.write("script", script)
    #expect(try ChildProcess.run(["chown", "-R", "65534:65534", home.path]).status == 0)
    let process = try RunningProcess(
      "setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", "cd \(home.path) && sh script"],
      environment: fixture.environment.variables)
    #expect(process.wait() == .exit(0), "\(process.output)\(process.errors)")
  }

  @Test func aReaderIsToldWhenTheMountEnds() throws {
    let fixture = try MountFixture(size: 3_000_000, rate: 20_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let process = try #require(fixture.mountProcess)
    let reader = try RunningProcess("cat", [fixture.episode(1)], environment: fixture.environment.variables)
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "downloading" })
    kill(process, SIGTERM)
    #expect(reader.wait() == .exit(1))
    #expect(reader.errors.contains("Input/output error"), "\(reader.errors)")
    #expect(eventually { kill(process, 0) != 0 })
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func aMountThatHasTakenThePlaceOfOneThatEndsStays() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let first = try #require(fixture.mountProcess)
    // Held, it ends after the second one has come.
    try hold(first, fixture)
    Self.detach(fixture.root)
    try fixture.mount()
    kill(first, SIGCONT)
    #expect(eventually { kill(first, 0) != 0 })
    #expect(try fixture.list(fixture.root).count == 6)
  }

  /// Stops the process of a mount, but not amid a write to the catalogue: another mount would wait for that in vain.
  private func hold(_ process: Int32, _ fixture: MountFixture) throws {
    var options = Database.Options()
    options.busyTimeout = 0
    let catalogue = try Database(
      path: fixture.environment.home.path("data/podcastfs/catalog.sqlite"), options: options)
    let isHeld = eventually {
      kill(process, SIGSTOP)
      let hasStopped = eventually {
        let text = (try? Directories.read("/proc/\(process)/stat")) ?? []
        return String(decoding: text, as: UTF8.self).contains(") T ")
      }
      if hasStopped, (try? catalogue.transaction {}) != nil { return true }
      kill(process, SIGCONT)
      return false
    }
    if !isHeld { throw Failed("the mount's process writes without end") }
  }

  private static func detach(_ path: String) {
    _ = try? ChildProcess.run(geteuid() == 0 ? ["umount", "-l", path] : ["fusermount3", "-uz", path])
  }

  // MARK: unmount

  @Test(arguments: ["link", "mnt/", "mnt/.", "mnt/./", "./mnt", "mnt/../mnt"])
  func aMountPointMayBeWrittenInAnyWay(path: String) throws {
    let fixture = try MountFixture()
    try fixture.mount()
    symlink(fixture.root, fixture.environment.home.path("link"))
    let process = try shell(fixture, "cd \"$HOME\" && podcastfs unmount \(path)")
    #expect(process.wait() == .exit(0), "\(process.errors)")
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func aDeadMountIsTakenAwayByUnmountToo() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.killForGood()
    #expect(eventually { fixture.mountProcess == nil })
    #expect(try fixture.run("unmount", fixture.root + "/.").end == .exit(0))
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func aMountThatProgramsUseStaysAndLazilyItGoesAllTheSame() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let user = try RunningProcess(
      "sh", ["-c", "cd \"\(fixture.root)/Search\" && echo there && exec sleep 60"],
      environment: fixture.environment.variables)
    #expect(user.waitForOutput { $0.contains("there") })
    #expect(eventually { (try? Directories.read("/proc/\(user.id)/comm")) == Array("sleep\n".utf8) })
    let busy = try fixture.run("unmount", fixture.root)
    #expect(busy.end == .exit(1))
    #expect(
      busy.errors.hasPrefix("podcastfs: cannot unmount \(fixture.root): ")
        && busy.errors.contains(": Device or resource busy (programs that use it: fuser -m \(fixture.root);"),
      "\(busy.errors)")
    #expect(try fixture.list(fixture.root).count == 6)
    #expect(try fixture.run("unmount", "--lazy", fixture.root).end == .exit(0))
    #expect(try fixture.list(fixture.root) == [])
  }

  /// A shell that has become the command is not in the way; one that waits for it is.
  @Test func aMountCanBeTakenAwayFromWithin() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let waiting = try shell(fixture, "cd \"$MNT/Search\" && { podcastfs unmount ..; true; }")
    #expect(waiting.wait() == .exit(0))
    #expect(waiting.errors.contains("Device or resource busy"), "\(waiting.errors)")
    let process = try shell(fixture, "cd \"$MNT/Search\" && exec podcastfs unmount ..")
    #expect(process.wait() == .exit(0), "\(process.errors)")
    #expect(try fixture.list(fixture.root) == [])
  }

  // MARK: mount(8)

  @Test func whatMountKnowsIsUnderstood() throws {
    let fixture = try MountFixture()
    let options = [
      "atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime",
      "symfollow", "nosymfollow", "lazytime", "nolazytime", "sync", "async", "dirsync", "dev", "nodev",
      "suid",
      "nosuid", "exec", "noexec", "ro", "rw",
    ]
    try fixture.mount(options: options.joined(separator: ",") + ",min_free=0")
    #expect(try fixture.list(fixture.root).count == 6)
  }

  @Test func aSourceMayBeNamedLikeACommand() throws {
    let fixture = try MountFixture()
    let helper = try fixture.run(
      "--helper", "mount", fixture.root, "-s", "-t", "podcastfs", "-o", "rw,min_free=0")
    #expect(helper.end == .exit(0), "\(helper.errors)")
    #expect(try fixture.list(fixture.root).count == 6)
  }

  @Test func commasMayBeEscaped() throws {
    let fixture = try MountFixture()
    let file = fixture.environment.home.path("said")
    let options = "min_free=0,fsname=a\\,b,on_complete=printf 'a\\,b' > \(file)"
    try fixture.mount(options: options)
    let table = String(decoding: try Directories.read("/proc/self/mountinfo"), as: UTF8.self)
    #expect(table.split(separator: "\n").contains { $0.contains(fixture.root + " ") && $0.contains(" a,b ") })
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(try fixture.run("get", fixture.episode(1)).end == .exit(0))
    #expect(eventually { (try? Directories.read(file)) == Array("a,b".utf8) })
  }

  @Test func aFakeMountIsCheckedOnly() throws {
    let fixture = try MountFixture()
    #expect(try fixture.run("--helper", "none", fixture.root, "-f", "-o", "min_free=0").end == .exit(0))
    #expect(fixture.mountProcess == nil)
    #expect(try fixture.list(fixture.root) == [])
    #expect(try fixture.run("--helper", "none", fixture.root, "-f", "-o", "nonsense").end == .exit(64))
  }

  @Test func ownersAndPermissionsAreShownAsTheOptionsSay() throws {
    let fixture = try MountFixture()
    try fixture.mount(options: "min_free=0,uid=1234,gid=2345,umask=027")
    let status = try fixture.status(fixture.root + "/Search")
    #expect(status.st_uid == 1234 && status.st_gid == 2345 && status.st_mode & 0o777 == 0o750)
    for wrong in ["uid=nobody-there", "umask=9", "gid=-1", "setuid="] {
      #expect(try fixture.run("mount", "-o", wrong, fixture.root + "2").end == .exit(64), "\(wrong)")
    }
  }

  @Test func withoutAMountPointItIsPodcastsInTheHome() throws {
    let fixture = try MountFixture()
    let usual = fixture.environment.home.path("Podcasts")
    let result = try fixture.run("mount", "-o", "min_free=0")
    #expect(result.end == .exit(0), "\(result.errors)")
    #expect(try fixture.list(usual).count == 6)
    #expect(try fixture.run("unmount", usual).end == .exit(0))
    // The directory is the user's, with his umask, though what podcastfs keeps is private.
    #expect(try fixture.status(usual).st_mode & 0o077 != 0)
  }

  // MARK: Other

  @Test func theDemonstrationLeavesNothingBehind() throws {
    let fixture = try MountFixture()
    let mounted = try fixture.run("demo", fixture.root)
    #expect(mounted.end == .exit(0), "\(mounted.errors)")
    #expect(mkdir(fixture.root + "/Search/harbour", 0o755) == 0)
    let show = fixture.root + "/Search/harbour/Harbour Lights"
    let episode = try #require(try fixture.list(show).first { $0.hasSuffix(".mp3") })
    _ = try Directories.read("\(show)/\(episode)", limit: 100)
    #expect(try fixture.run("status").output.contains("1 downloading"))
    let second = try fixture.run("demo", fixture.root + "2")
    #expect(second.end == .exit(1) && second.errors.contains("already mounted"), "\(second.errors)")
    #expect(access(fixture.root + "2", F_OK) != 0)
    let process = try #require(fixture.mountProcess)
    #expect(try fixture.run("unmount", fixture.root).end == .exit(0))
    #expect(eventually { kill(process, 0) != 0 })
    for place in ["data", "state", "cache", "config", "run/podcastfs-demo"] {
      // The daemon takes its own away when it ends.
      #expect(eventually { access(fixture.environment.home.path(place), F_OK) != 0 }, "\(place)")
    }
  }
}
