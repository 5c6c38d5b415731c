import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct PlacesTests {
  private func runtime(_ directory: String) throws -> String {
    let environment = ["HOME": "/nonexistent", "XDG_RUNTIME_DIR": directory, "TMPDIR": "/var/tmp"]
    return try Places(environment: environment).runtime
  }

  /// su(1) leaves the caller's: what is made there would be in that user's way, or can't be made.
  @Test func theRuntimeDirectoryOfAnotherUserIsNotUsed() throws {
    let directory = try TemporaryDirectory()
    #expect(try runtime(directory.path) == directory.path + "/podcastfs")
    // Of nobody, or root's.
    let other = geteuid() == 0 ? directory.path("run") : "/usr"
    if geteuid() == 0 {
      try retrying("make", other) { mkdir(other, 0o700) }
      try retrying("give away", other) { chown(other, 65534, 65534) }
    }
    #expect(try runtime(other) == "/var/tmp/podcastfs-\(geteuid())")
    // Where there is none yet, it is made.
    #expect(try runtime(directory.path("none")) == directory.path("none/podcastfs"))
  }
}
