internal import CLinux
internal import Glibc

/// Other programs, each started as a new process image: the Swift runtime keeps thread numbers in thread-local memory,
/// and in a forked child its locks spin for ever.
package enum ChildProcess {
  /// Starts a program with no signal blocked or ignored.
  /// - Parameters:
  ///   - program: its file, or a name to find in PATH.
  ///   - name: its argument 0; nil for `program`.
  ///   - arguments: every user of the machine can read them: no secrets.
  ///   - environment: another one in place of ours; nothing of a value after a NUL is seen.
  ///   - files: what it has open as numbers 0, 1, 2 and so on; nil for /dev/null. Nothing else of ours.
  ///   - isDetached: whether it has a session of its own, begins in the root directory and may outlive this program.
  /// - Returns: its number, for `wait` or `reap`.
  package static func start(
    _ program: String, name: String? = nil, _ arguments: [String], environment: [String: String]? = nil,
    files: [Int32?] = [nil, nil, nil], isDetached: Bool = true
  ) throws(PosixError) -> Int32 {
    let words: [UnsafeMutablePointer<CChar>?] = ([name ?? program] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?]?
    if let environment { variables = environment.map { strdup("\($0)=\($1)") } + [nil] }
    defer { for text in words + (variables ?? []) { free(text) } }
    let descriptors = files.map { $0 ?? -1 }
    var process: pid_t = 0
    func spawn(_ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
      podcastfs_spawn(
        program, words, environment, descriptors, Int32(descriptors.count), isDetached ? 1 : 0, &process)
    }
    let reason =
      if let variables { variables.withUnsafeBufferPointer { spawn($0.baseAddress) } } else { spawn(nil) }
    guard reason == 0 else { throw PosixError(Errno(rawValue: reason), "start", program) }
    return process
  }

  /// Runs a program found in PATH, with no input and its output dropped, and waits for its end.
  /// - Returns: its exit status, or 128 and the number of the signal that ended it; what it wrote on standard error, at
  ///   most 64 KiB.
  package static func run(_ arguments: [String]) throws(PosixError) -> (status: Int32, errors: String) {
    let pipe = try Pipe()
    let process = try start(
      arguments[0], Array(arguments.dropFirst()), files: [nil, nil, pipe.writer.rawValue], isDetached: false)
    let errors = try pipe.takeReader().readToEnd(limit: 65_536)
    return (try wait(process), String(decoding: errors, as: UTF8.self))
  }

  /// Waits for the end of a process.
  /// - Returns: its exit status, or 128 and the number of the signal that ended it.
  package static func wait(_ process: Int32) throws(PosixError) -> Int32 {
    var status: Int32 = 0
    try retrying("wait for", "process \(process)") { waitpid(process, &status, 0) }
    return outcome(status)
  }

  /// How a process has ended, as `wait` tells it; nil while it has not. To be asked until it has.
  package static func reap(_ process: Int32) -> Int32? {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == 0 ? nil : outcome(status)
  }

  private static func outcome(_ status: Int32) -> Int32 {
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
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
