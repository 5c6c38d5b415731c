internal import CLinux
internal import Glibc

/// Starts programs that have nothing to do with this one's terminal and may outlive it.
package enum DetachedProcess {
  /// Starts `path` in a session of its own, with nothing of ours but the environment.
  /// - Parameters:
  ///   - environment: another one in its place; nothing of a value after a NUL is seen.
  ///   - errors: its standard error; nil for none.
  /// - Returns: its number; to be reaped by `reap` or `wait`.
  package static func start(
    _ path: String, _ arguments: [String], environment: [String: String]? = nil, errors: Int32? = nil
  ) throws(PosixError) -> Int32 {
    let texts = copies([path] + arguments)
    let variables = environment.map { copies($0.map { "\($0)=\($1)" }) }
    defer { for text in texts + (variables ?? []) { free(text) } }
    var process: pid_t = 0
    let reason =
      if let variables {
        podcastfs_spawn_detached(path, texts, variables, errors ?? -1, &process)
      } else {
        podcastfs_spawn_detached(path, texts, nil, errors ?? -1, &process)
      }
    guard reason == 0 else { throw PosixError(Errno(rawValue: reason), "start", path) }
    return process
  }

  /// Starts `path` in a session of its own, with three descriptors as its numbers 3 to 5, and nothing else of ours but the
  /// environment. Nobody has to reap it where SIGCHLD is ignored; else it is a zombie in the end.
  package static func startHolding(
    _ path: String, _ first: Int32, _ second: Int32, _ third: Int32
  ) throws(PosixError) -> Int32 {
    let texts = copies([String(path.split(separator: "/").last ?? "")])
    defer { for text in texts { free(text) } }
    var process: pid_t = 0
    let reason = podcastfs_spawn_holding(path, texts, first, second, third, &process)
    guard reason == 0 else { throw PosixError(Errno(rawValue: reason), "start", path) }
    return process
  }

  private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    texts.map { strdup($0) } + [nil]
  }

  /// Waits for the end of a process that `start` began.
  /// - Returns: its exit status, or 128 and the number of the signal that ended it.
  package static func wait(_ process: Int32) throws(PosixError) -> Int32 {
    var status: Int32 = 0
    try retrying("wait for", "process \(process)") { waitpid(process, &status, 0) }
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  /// How a process that `start` began has ended, as `wait` tells it; nil while it has not. To be asked until it
  /// has.
  package static func reap(_ process: Int32) -> Int32? {
    var status: Int32 = 0
    if waitpid(process, &status, WNOHANG) == 0 { return nil }
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  /// A descriptor that is readable when the process has ended (pidfd_open(2)); nil where the system has none.
  package static func watch(_ process: Int32) -> FileDescriptor? {
    let descriptor = podcastfs_process_descriptor(process)
    return descriptor < 0 ? nil : FileDescriptor(owning: descriptor)
  }

  /// The program `name` that is beside the running program, else in PATH; nil where neither is.
  package static func find(_ name: String) -> String? {
    if let own = Directories.linkTarget("/proc/self/exe") {
      let path = own[...(own.lastIndex(of: "/") ?? own.startIndex)] + name
      if access(String(path), X_OK) == 0 { return String(path) }
    }
    guard let search = getenv("PATH") else { return nil }
    for directory in String(cString: search).split(separator: ":") where directory.hasPrefix("/") {
      let path = "\(directory)/\(name)"
      if access(path, X_OK) == 0 { return path }
    }
    return nil
  }
}
