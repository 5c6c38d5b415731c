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
      #expect(try fixture.list(fixture.root).count == 5)
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
}
