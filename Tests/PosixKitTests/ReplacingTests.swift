import Glibc
import PosixKit
import TestSupport
import Testing

/// A file that is replaced is the old one or the new one, whole, when the power has gone.
@Suite(.enabled(if: TestDisk.isPossible, "\(TestDisk.requirement)")) struct ReplacingTests {
  @Test func aNewNameHasItsBytes() throws {
    let disk = try TestDisk()
    let path = disk.path + "/a"
    try Directories.replace(path, with: [UInt8](repeating: 1, count: 10_000))
    try Directories.replace(path, with: [UInt8](repeating: 2, count: 20_000))
    // The disk's own log, and with it the name, is written for another file's sake.
    do {
      let other = try FileDescriptor(opening: disk.path + "/other", O_WRONLY | O_CREAT)
      #expect(fsync(other.rawValue) == 0)
    }
    try disk.losePower()
    #expect(try Directories.read(path) == [UInt8](repeating: 2, count: 20_000))
  }
}
