internal import CLinux
internal import Glibc

/// Starts programs that outlive this one.
package enum DetachedProcess {
  /// Starts `path` in a session of its own, with nothing of ours but the environment.
  /// - Returns: its number; to be reaped by `reap`.
  package static func start(_ path: String, _ arguments: [String]) throws(PosixError) -> Int32 {
    var texts: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    texts.append(nil)
    defer { for text in texts { free(text) } }
    var process: pid_t = 0
    let reason = podcastfs_spawn_detached(path, texts, &process)
    guard reason == 0 else { throw PosixError(Errno(rawValue: reason), "start", path) }
    return process
  }

  /// Whether a process that `start` began has ended; to be asked until it has.
  package static func reap(_ process: Int32) -> Bool {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) != 0
  }

  /// The program `name` that is beside the running program, else in PATH; nil where neither is.
  package static func find(_ name: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    if count > 0 {
      let own = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
