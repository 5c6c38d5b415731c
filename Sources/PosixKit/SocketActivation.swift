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
}
