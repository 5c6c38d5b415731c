internal import Glibc

/// Programs that are run to their end.
package enum ChildProcess {
  package struct Outcome: Sendable {
    /// The exit status, or 128 and the signal's number.
    package var status: Int32
    /// What it said on standard error, at most 64 KiB.
    package var errors: String
  }

  /// Runs a program found in PATH, with no input and its output dropped, and waits for its end.
  package static func run(_ arguments: [String]) throws(PosixError) -> Outcome {
    let pipe = try Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, pipe.writer.rawValue, 2)

    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    var child: pid_t = 0
    let error = posix_spawnp(&child, arguments[0], &actions, nil, &pointers, environ)
    if error != 0 { throw PosixError(Errno(rawValue: error), "run", arguments[0]) }
    let errors = pipe.takeReader().readToEnd(limit: 65_536)
    var status: Int32 = 0
    try retrying("wait for", arguments[0]) { waitpid(child, &status, 0) }
    let signal = status & 0x7f
    return Outcome(status: signal == 0 ? status >> 8 & 0xff : 128 + signal, errors: errors)
  }
}
