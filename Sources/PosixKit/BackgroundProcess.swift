internal import CLinux
internal import Glibc

/// A program that continues in the background once it is ready, as daemons do (daemon(7)). Its starter waits for its report.
///
/// It is a new process image, not a fork: the Swift runtime keeps thread numbers in thread-local memory, and in
/// a forked child its locks spin for ever.
package enum BackgroundProcess {
  /// The descriptor on which the started process reports that it is ready.
  package static let reportDescriptor: Int32 = 3

  /// Starts this program again with other arguments and with the umask of its user, and waits until it is ready.
  ///
  /// It stays in this process's group until it is ready: autofs lets that group pass, and all others wait for the mount.
  /// It inherits the standard streams only, so that no lock or pipe of the caller lives as long as the mount.
  /// - Returns: why it never will be; nil where all is well.
  package static func start(_ arguments: [String]) throws(PosixError) -> String? {
    let pipe = try Pipe()
    let writer = pipe.writer.rawValue
    _ = try UserMask.holding {
      Result { () throws(PosixError) in
        try ChildProcess.start(ownFile(), arguments, files: [0, 1, 2, writer], isDetached: false)
      }
    }.get()
    let word = String(decoding: try pipe.takeReader().readToEnd(limit: 4096), as: UTF8.self)
    if word == "\n" { return nil }
    return word.isEmpty ? "it ended before it was ready" : word
  }

  /// This program's file, by the name that `ps` and `pgrep` then show; by the kernel's link where that name
  /// leads to it no longer.
  private static func ownFile() -> String {
    let path = ProgramArguments.file
    return access(path, X_OK) == 0 ? path : "/proc/self/exe"
  }

  /// How the started process tells that it is ready, or why it never will be.
  package struct Readiness: ~Copyable, Sendable {
    private let pipe: FileDescriptor

    /// In the started process, before anything else is opened.
    package init() {
      pipe = FileDescriptor(owning: BackgroundProcess.reportDescriptor)
      _ = fcntl(BackgroundProcess.reportDescriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Tells that all is well, and lets go of the terminal: a session of its own from here on.
    package consuming func ready() {
      setsid()
      if let null = try? FileDescriptor(opening: "/dev/null", O_RDWR) {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(null.rawValue, stream) }
      }
      chdir("/")
      report("\n")
    }

    package consuming func failed(_ reason: String) { report(reason) }

    private func report(_ text: String) {
      Array(text.utf8).withUnsafeBytes { try? pipe.append($0) }
    }
  }
}
