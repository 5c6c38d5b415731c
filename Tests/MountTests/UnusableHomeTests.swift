import Glibc
import PosixKit
import TestSupport
import Testing

/// Where a folder of the home is full or can't be written, mounting works all the same, or says which and why.
@Suite(.enabled(if: geteuid() == 0, "mounting small disks takes root")) struct UnusableHomeTests {
  private func mount(
    _ fixture: MountFixture, with folder: String, on options: String, isFull: Bool
  ) throws -> (path: String, end: RunningProcess.End?, errors: String) {
    let path = fixture.environment.home.path("\(folder)/podcastfs")
    try Directories.createPrivate(path)
    let disk = ["mount", "-t", "tmpfs", "-o", "mode=700,\(options)", "tmpfs", path]
    #expect(try ChildProcess.run(disk).status == 0)
    defer { try? unmountFileSystem(path, lazily: true) }
    if isFull { _ = try ChildProcess.run(["sh", "-c", "cat /dev/zero >'\(path)/ballast'"]) }
    let result = try fixture.run("mount", "-o", "min_free=0", fixture.root)
    if result.end == .exit(0) {
      #expect(try fixture.list(fixture.root).count == 6)
      try fixture.unmount()
    }
    return (path, result.end, result.errors)
  }

  @Test func aFullFolderOfTheCatalogueIsNamed() throws {
    let (path, end, errors) = try mount(try MountFixture(), with: "data", on: "size=64k", isFull: true)
    #expect(end == .exit(1))
    #expect(
      errors == "podcastfs: cannot open the catalogue \(path)/catalog.sqlite: No space left on device\n")
  }

  @Test(arguments: ["state", "cache"]) func whereNothingHasToBeWrittenAFullFolderIsNoHindrance(
    _ folder: String
  )
    throws
  {
    let (_, end, errors) = try mount(try MountFixture(), with: folder, on: "size=64k", isFull: true)
    #expect(end == .exit(0), "\(errors)")
  }

  @Test(arguments: [
    ("data", "open the catalogue", "catalog.sqlite"), ("state", "open", "transferd.lock"),
    ("cache", "create", "episodes"),
  ])
  func aFolderThatCannotBeWrittenIsNamed(folder: String, what: String, file: String) throws {
    let (path, end, errors) = try mount(try MountFixture(), with: folder, on: "size=64k,ro", isFull: false)
    #expect(end == .exit(1))
    #expect(errors.hasPrefix("podcastfs: cannot \(what) \(path)/\(file): "), "\(errors)")
    #expect(errors.hasSuffix("Read-only file system\n"), "\(errors)")
  }

  /// The mount's memory counts as a file, too.
  @Test func underALimitOfFilesSizesAMountWorks() throws {
    let fixture = try MountFixture()
    let mounting = try RunningProcess(
      "bash",
      ["-c", "ulimit -f 4096; exec '\(Products.path("podcastfs"))' mount -o min_free=0 '\(fixture.root)'"],
      environment: fixture.environment.variables)
    #expect(mounting.wait() == .exit(0), "\(mounting.errors)")
    try fixture.makeSearch()
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    try fixture.unmount()
  }

  /// After an error ext4 is read-only, though its files stay open for writing.
  @Test(.enabled(if: TestDisk.isPossible, Comment(rawValue: TestDisk.requirement)))
  func whereTheCatalogueCannotBeWrittenTheDownloadStays() throws {
    let disk = try TestDisk()
    let fixture = try MountFixture(environment: ["XDG_DATA_HOME": disk.path])
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    try fixture.mount()
    let episode = fixture.subscribed(1)
    #expect(try fixture.isWhole(episode, 1))
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    #expect(try ChildProcess.run(["mount", "-o", "remount,abort", disk.path]).status == 0)
    #expect(errnoOf { unlink(episode) } == .EROFS)
    #expect(try fixture.attribute("state", episode) == "cached")
    _ = try fixture.run("unmount", "--lazy", fixture.root)
  }

  /// Hiding an episode and dropping its download are one change.
  @Test func whereTheDownloadCannotBeDroppedTheEpisodeStays() throws {
    let fixture = try MountFixture()
    let path = fixture.environment.home.path("cache/podcastfs")
    try Directories.createPrivate(path)
    #expect(try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "mode=700", "tmpfs", path]).status == 0)
    defer { try? unmountFileSystem(path, lazily: true) }
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    try fixture.mount()
    let episode = fixture.subscribed(1)
    #expect(try fixture.isWhole(episode, 1))
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    // The disk can become read-only once no file on it is open for writing.
    #expect(eventually { (try? ChildProcess.run(["mount", "-o", "remount,ro", path]).status) == 0 })
    for view in [episode, fixture.root + "/Latest/2024-01-01 - Harbour Lights - Part 1.mp3"] {
      #expect(errnoOf { unlink(view) } == .EROFS, "\(view)")
    }
    #expect(
      try fixture.list(fixture.root + "/Subscriptions/\(MountFixture.podcast)").contains(
        MountFixture.names[0]))
    #expect(try fixture.attribute("state", episode) == "cached")
  }
}
