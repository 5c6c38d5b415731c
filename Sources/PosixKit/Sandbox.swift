internal import CLinux
internal import Glibc

/// What a process that reads what strangers sent can no longer do.
package struct Sandbox: OptionSet, Hashable, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// No program that it starts gets more rights (prctl(2), PR_SET_NO_NEW_PRIVS).
  package static let privileges = Sandbox(rawValue: 1)
  /// It opens no files (landlock(7), Linux 5.13).
  package static let files = Sandbox(rawValue: 2)
  /// It makes no system calls but those for its memory and its open files (seccomp(2)).
  package static let calls = Sandbox(rawValue: 4)
  package static let whole: Sandbox = [.privileges, .files, .calls]

  /// Restricts this process; this cannot be undone.
  /// - Parameter descriptors: the lowest file descriptor to close; all higher ones are closed too.
  /// - Returns: the restrictions that are in force.
  @discardableResult
  package static func enter(closingFrom descriptors: Int32) -> Sandbox {
    Sandbox(rawValue: podcastfs_enter_sandbox(descriptors))
  }

  /// What this process can still do, found by trying: "open a file", "open a socket", "start a process".
  package static func gaps() -> [String] {
    var gaps: [String] = []
    let file = open("/", O_RDONLY)
    if file >= 0 { gaps.append("open a file") }
    for family in [AF_INET, AF_INET6, AF_UNIX] where socket(family, Int32(SOCK_STREAM.rawValue), 0) >= 0 {
      gaps.append("open a socket")
      break
    }
    var process: pid_t = 0
    var arguments = [strdup("true"), nil]
    defer { free(arguments[0]) }
    if posix_spawn(&process, "/bin/true", nil, nil, &arguments, nil) == 0 {
      waitpid(process, nil, 0)
      gaps.append("start a process")
    }
    return gaps
  }
}
