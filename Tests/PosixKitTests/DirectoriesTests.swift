import PosixKit
import Testing

@Suite struct DirectoriesTests {
  /// The parent is there, and mkdir(2) says ENOENT all the same.
  @Test func aFolderThatTheKernelDoesNotLetBeMadeIsAnError() {
    let error = #expect(throws: PosixError.self) { try Directories.create("/proc/podcastfs/cache") }
    #expect(error?.errno == .ENOENT)
  }
}
