internal import Glibc
internal import PosixKit

/// A wall clock that a test sets while programs run: libfaketime, loaded into them. Their monotonic clock and
/// the times of files stay true.
package final class FakeClock: Sendable {
  private let directory: TemporaryDirectory

  private static let library = "faketime/libfaketimeMT.so.1"

  private static var libraryPath: String? {
    ["/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib/"]
      .map { $0 + library }.first { access($0, R_OK) == 0 }
  }

  /// Not in programs that a sanitizer is in: either wants to be loaded first.
  package static var isAvailable: Bool { libraryPath != nil && !Sanitizer.isOn }

  package init() throws {
    directory = try TemporaryDirectory()
    try set(ahead: 0)
  }

  /// Variables for the programs that are to go by it.
  package var variables: [String: String] {
    [
      "LD_PRELOAD": Self.libraryPath ?? "", "FAKETIME_TIMESTAMP_FILE": directory.path("clock"),
      "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
    ]
  }

  /// Sets it.
  /// - Parameter seconds: before the true time where negative.
  package func set(ahead seconds: Int64) throws {
    try Directories.replace(
      directory.path("clock"), with: Array("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8))
  }

  /// What a model sets it to: a little and much, before the true time and after it.
  package static let jumps: [Int64] = [0, 0, -1, 5, -3600, 86_400, -31_536_000, 31_536_000]

  /// A script that runs `program` by this clock.
  package func wrapper(of program: String) throws -> String {
    let path = directory.path("by-fake-clock")
    let words = variables.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
    try Directories.replace(path, with: Array("#!/bin/sh\nexec env \(words) '\(program)' \"$@\"\n".utf8))
    chmod(path, 0o755)
    return path
  }
}
