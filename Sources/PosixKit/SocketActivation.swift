internal import CLinux
internal import Glibc

/// A listening socket handed over at the start (sd_listen_fds(3)).
package enum SocketActivation {
  /// The first of them, made close-on-exec and non-blocking; nil where there is none for this process. Takes
  /// the variables out of the environment.
  package static func listener() -> Int32? {
    defer {
      unsetenv("LISTEN_PID")
      unsetenv("LISTEN_FDS")
    }
    guard let pid = getenv("LISTEN_PID"), let count = getenv("LISTEN_FDS"),
      Int32(String(cString: pid)) == getpid(), let number = Int32(String(cString: count)), number >= 1
    else { return nil }
    let first: Int32 = 3
    guard podcastfs_set_nonblocking(first) == 0, podcastfs_set_close_on_exec(first) == 0 else { return nil }
    return first
  }

  /// Those that were handed over, by their names, made close-on-exec: each the caller's to close. Takes the variables out
  /// of the environment.
  package static func descriptors() -> [String: Int32] {
    guard let pid = getenv("LISTEN_PID"), let all = getenv("LISTEN_FDNAMES"),
      Int32(String(cString: pid)) == getpid()
    else { return [:] }
    let given = String(cString: all).split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(variable) }
    let first: Int32 = 3
    var found: [String: Int32] = [:]
    for (place, name) in given.enumerated() {
      let number = first + Int32(place)
      guard podcastfs_set_close_on_exec(number) == 0 else { continue }
      if let other = found.updateValue(number, forKey: name) { close(other) }
    }
    return found
  }
}
