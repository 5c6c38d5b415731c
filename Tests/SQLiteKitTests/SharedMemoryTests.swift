import CSQLite
import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// A file system without shared memory maps: some network and FUSE ones.
@Suite struct SharedMemoryTests {
  @Test func aFileSystemWithoutSharedMapsIsNamedWithTheVariableToSet() throws {
    let directory = try TemporaryDirectory(prefix: "podcastfs-unshared")
    refuseSharedMaps()
    var options = Database.Options()
    options.placeVariable = "XDG_DATA_HOME"
    let error = #expect(throws: DatabaseError.self) {
      try Database(path: directory.path("a.sqlite"), options: options).script("CREATE TABLE a (b)")
    }
    let words = error?.description ?? ""
    #expect(
      words.contains("shared memory") && words.contains(directory.path) && words.contains("XDG_DATA_HOME"))
    #expect(error?.isDamaged == false)
  }

  /// Has SQLite's mmap(2) fail for the files of directories that are named like the test's.
  private func refuseSharedMaps() {
    typealias Map =
      @convention(c) (UnsafeMutableRawPointer?, Int, Int32, Int32, Int32, Int) -> UnsafeMutableRawPointer?
    let map: Map = { address, length, protection, flags, file, offset in
      guard Directories.linkTarget("/proc/self/fd/\(file)")?.contains("/podcastfs-unshared") == true else {
        return mmap(address, length, protection, flags, file, offset)
      }
      errno = ENODEV
      return MAP_FAILED
    }
    let system = sqlite3_vfs_find(nil)
    let set = system?.pointee.xSetSystemCall?(
      system, "mmap", unsafeBitCast(map, to: sqlite3_syscall_ptr.self))
    #expect(set == SQLITE_OK)
  }
}
