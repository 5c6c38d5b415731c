internal import Configuration
internal import Glibc
internal import PosixKit

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
      // The machine's network may be a metered one.
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere",
    ]
    variables["PATH"] = Places.processEnvironment["PATH"] ?? "/usr/bin:/bin"
    // What a sanitizer or a coverage run is told.
    for name in ["TSAN_OPTIONS", "ASAN_OPTIONS", "LLVM_PROFILE_FILE", "LD_LIBRARY_PATH"] {
      variables[name] = Places.processEnvironment[name]
    }
    self.variables = variables.merging(extra) { _, new in new }
    mkdir(home.path("run"), 0o700)
  }

  deinit { signalDaemon(SIGKILL) }

  /// The process of the daemon that serves this home; nil where none does.
  package var daemon: Int32? {
    guard let text = try? Directories.read(home.path("run/podcastfs/transferd.pid")),
      let id = Int32(String(decoding: text, as: UTF8.self).filter(\.isNumber)),
      // The number may belong to another process by now.
      let arguments = try? Directories.read("/proc/\(id)/cmdline"),
      String(decoding: arguments, as: UTF8.self).contains(home.path)
    else { return nil }
    return id
  }

  /// Sends a signal to the daemon that serves this home.
  /// - Returns: whether there is one.
  @discardableResult
  package func signalDaemon(_ number: Int32) -> Bool {
    guard let daemon else { return false }
    return kill(daemon, number) == 0
  }
}
