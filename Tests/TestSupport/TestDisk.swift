import CTestLinux
import Glibc
import PosixKit

/// A disk of a test's own, which can lose its power: what has not been brought to it by then is gone. An ext4 in a file,
/// mounted by a loop device.
package final class TestDisk {
  /// Where it is mounted.
  package let path: String
  private let directory: TemporaryDirectory
  private var image: String { directory.path("image") }

  /// Why there is none here, as a condition of tests.
  package static let requirement = "mounting a disk takes root, a loop device and mkfs.ext4"
  package static let isPossible: Bool = {
    guard geteuid() == 0, let disk = try? TestDisk() else { return false }
    return (try? Directories.names(in: disk.path).contains("lost+found")) ?? false
  }()

  package init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("disk")
    try Directories.create(path)
    try run("truncate", "-s", "64M", image)
    try run("mkfs.ext4", "-q", "-F", image)
    try mount()
  }

  /// A process of the test may still have a file of the disk open: the disk goes with that file.
  deinit { _ = try? ChildProcess.run(["umount", "--lazy", path]) }

  /// The machine goes off and comes up again.
  /// - Parameter close: closes what is open in it, when nothing can be written any more.
  package func losePower(_ close: () -> Void = {}) throws {
    guard test_shut_down(path) == 0 else { throw PosixError.last("shut down", path) }
    close()
    try run("umount", path)
    try mount()
  }

  /// Without what ext4 does for programs that rename a file over another one before its bytes are on the disk.
  private func mount() throws { try run("mount", "-o", "loop,noauto_da_alloc", image, path) }

  private func run(_ words: String...) throws {
    let result = try ChildProcess.run(words)
    if result.status != 0 { throw TestDiskError(words: words, errors: result.errors) }
  }
}

package struct TestDiskError: Error, Sendable {
  package let words: [String]
  package let errors: String
}
