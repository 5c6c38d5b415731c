import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct MountingTests {
  @Test func aMountCanBeListedWhenTheCommandReturnsAndGoesWithUnmount() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(
      try fixture.list(fixture.root) == [
        "Downloaded", "Downloading", "Latest", "Queue", "Search", "Subscriptions",
      ])
    let process = try #require(fixture.mountProcess)
    #expect(try Directories.read("/proc/\(process)/comm") == Array("podcastfs\n".utf8))
    try fixture.unmount()
    #expect(try fixture.list(fixture.root) == [])
    #expect(eventually { kill(process, 0) != 0 })
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalEndsItInOrderAndLeavesNoDeadMount(signal: Int32) throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let process = try #require(fixture.mountProcess)
    kill(process, signal)
    #expect(eventually { kill(process, 0) != 0 })
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func aMountPointThatCannotBeUsedIsOneClearLine() throws {
    let fixture = try MountFixture()
    let missing = try fixture.run("mount", fixture.root + "/nothing")
    #expect(missing.end == .exit(1))
    #expect(missing.errors == "podcastfs: cannot mount on \(fixture.root)/nothing: no such directory\n")
    try fixture.environment.home.write("full/file", "x")
    let full = fixture.environment.home.path("full")
    let notEmpty = try fixture.run("mount", full)
    #expect(notEmpty.end == .exit(1))
    #expect(notEmpty.errors == "podcastfs: cannot mount on \(full): the directory is not empty\n")
    let file = try fixture.run("mount", full + "/file")
    #expect(file.end == .exit(1) && file.errors.contains("not a directory"))
    try fixture.mount()
    let twice = try fixture.run("mount", fixture.root)
    #expect(twice.end == .exit(0) && twice.output.contains("already mounted"), "\(twice)")
    #expect(try fixture.run("mount", "a", "b").end == .exit(64))
    #expect(try fixture.run("mount", "-o", "nonsense", full).end == .exit(64))
    #expect(try fixture.run("mount", "-o", "cache_size=much", full).end == .exit(64))
  }

  @Test func aDeadMountThatACrashHasLeftIsCleared() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.killForGood()
    var status = stat()
    #expect(eventually { stat(fixture.root, &status) != 0 })
    try fixture.mount()
    #expect(try fixture.list(fixture.root).count == 6)
  }

  /// Only root may mount without fusermount3, which would not let a mount without its process be.
  @Test(.enabled(if: geteuid() == 0)) func aMountOfAnotherFuseProgramIsLeftAlone() throws {
    let fixture = try MountFixture()
    // It has no subtype, and its process is gone at once: it is dead.
    let script = """
      exec 9<>/dev/fuse
      mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 stranger "$1"
      """
    let other = try RunningProcess(
      "sh", ["-c", script, "sh", fixture.root], environment: fixture.environment.variables)
    #expect(other.wait() == .exit(0), "\(other.errors)")
    let unmounted = try fixture.run("unmount", fixture.root)
    #expect(unmounted.end == .exit(1))
    #expect(unmounted.errors.hasSuffix("podcastfs is not mounted there\n"), "\(unmounted.errors)")
    let mounted = try fixture.run("mount", fixture.root)
    #expect(mounted.end == .exit(1))
    #expect(mounted.errors.contains("a dead mount of another program is in the way"), "\(mounted.errors)")
    let table = String(decoding: try Directories.read("/proc/self/mountinfo"), as: UTF8.self)
    #expect(table.contains(" \(fixture.root) ") && table.contains(" - fuse stranger "))
  }

  /// By its type commands know it again.
  @Test func theSubtypeCannotBeChanged() throws {
    let fixture = try MountFixture()
    try fixture.mount(options: "min_free=0,subtype=other")
    try fixture.unmount()
  }

  @Test func itServesAsMountsHelperAsTheOtherFileSystemsDo() throws {
    let fixture = try MountFixture()
    let result = try fixture.run(
      "--helper", "none", fixture.root, "-o", "rw,noatime,min_free=0,x-systemd.automount")
    #expect(result.end == .exit(0), "\(result.errors)")
    // It can be listed when the command returns.
    #expect(try fixture.list(fixture.root).count == 6)
  }

  @Test(.enabled(if: getuid() == 0 && Products.isInstalled("setpriv")))
  func anOrdinaryUserHasTheWholeJob() throws {
    let fixture = try MountFixture()
    let home = fixture.environment.home
    for program in ["podcastfs", "podcastfs-transferd"] {
      try home.write("bin/\(program)", try Directories.read(Products.path(program), limit: 1 << 30))
      chmod(home.path("bin/\(program)"), 0o755)
    }
    try home.write("expected", fixture.bodies[0].bytes)
    let script = """
      set -e
      bin/podcastfs mount -o min_free=0 mnt
      mkdir mnt/Search/harbour
      cmp expected "mnt/Search/harbour/Harbour Lights/2024-01-01 - Part 1.mp3"
      bin/podcastfs get --quiet mnt/Search/harbour/*/*1.mp3
      getfattr --only-values -n user.podcastfs.state mnt/Downloaded/*/*
      bin/podcastfs unmount mnt
      ls -A mnt
      kill "$(cat run/podcastfs/transferd.pid)"
      """
    try home.write("script", script)
    let owned = try ChildProcess.run(["chown", "-R", "65534:65534", home.path])
    #expect(owned.status == 0)
    let process = try RunningProcess(
      "setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", "cd \(home.path) && sh script"],
      environment: fixture.environment.variables)
    #expect(process.wait() == .exit(0), "\(process.errors)")
    #expect(process.output == "cached")
  }

  @Test func whatHasNoMeaningIsRefused() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let refused: Set<Errno> = [.EROFS, .EPERM, .EACCES]
    func isRefused(_ call: () -> Int32) -> Bool { errnoOf(call).map(refused.contains) ?? false }
    let (root, episode) = (fixture.root, fixture.episode(1))
    #expect(isRefused { mkdir(root + "/x", 0o755) })
    #expect(isRefused { mkdir(fixture.podcastPath + "/x", 0o755) })
    #expect(isRefused { rmdir(root + "/Search") })
    #expect(isRefused { rename(root + "/Search", root + "/Find") })
    #expect(isRefused { rename(episode, root + "/Search/x.mp3") })
    #expect(isRefused { chmod(episode, 0o777) })
    #expect(isRefused { chown(episode, 1, 1) })
    #expect(isRefused { truncate(episode, 0) })
    #expect(isRefused { utimes(episode, nil) })
    #expect(isRefused { symlink("a", root + "/Search/link") })
    #expect(isRefused { link(episode, root + "/link") })
    #expect(isRefused { mknod(root + "/Search/node", S_IFREG | 0o644, 0) })
    for path in [episode, root + "/new", fixture.podcastPath + "/new"] {
      #expect(isRefused { (try? FileDescriptor(opening: path, O_WRONLY | O_CREAT)) == nil ? -1 : 0 })
    }
    #expect(throws: PosixError.self) { try fixture.set("progress", "1", episode) }
  }
}
