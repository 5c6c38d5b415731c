internal import Configuration
internal import Glibc

/// A home of a test's own: every place that podcastfs keeps things in, and nothing of the user's.
package final class TestEnvironment: Sendable {
  package let home: TemporaryDirectory
  /// Variables for the programs under test.
  package let variables: [String: String]

  /// - Parameter extra: set in addition, or in place.
  package init(_ extra: [String: String] = [:]) throws {
    home = try TemporaryDirectory()
    var variables = [
      "HOME": home.path, "XDG_CONFIG_HOME": home.path("config"), "XDG_DATA_HOME": home.path("data"),
      "XDG_STATE_HOME": home.path("state"), "XDG_CACHE_HOME": home.path("cache"),
      "XDG_RUNTIME_DIR": home.path("run"), "LANG": "C.UTF-8", "TMPDIR": "/tmp",
    ]
    variables["PATH"] = Places.processEnvironment["PATH"] ?? "/usr/bin:/bin"
    // What a sanitizer or a coverage run is told.
    for name in ["TSAN_OPTIONS", "ASAN_OPTIONS", "LLVM_PROFILE_FILE", "LD_LIBRARY_PATH"] {
      variables[name] = Places.processEnvironment[name]
    }
    self.variables = variables.merging(extra) { _, new in new }
    mkdir(home.path("run"), 0o700)
  }
}
