internal import Glibc

/// How a helper gets on: it writes a byte into a pipe whenever there is more in its output, and its end closes that.
package final class HelperProgress {
  private let pipe: FileDescriptor
  private let deadline: MonotonicTime
  /// Whether nothing more comes.
  private(set) var hasEnded = false

  init(_ pipe: consuming FileDescriptor, until deadline: MonotonicTime) {
    self.pipe = pipe
    self.deadline = deadline
  }

  /// Waits until there is more.
  /// - Returns: false where nothing more comes, or not in time.
  package func wait() -> Bool {
    var entry = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
    var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while true {
      let count = poll(&entry, 1, deadline.pollTimeout)
      if count < 0, Errno.current != .EINTR { return false }
      if count <= 0, deadline <= .now { return false }
      if count <= 0 { continue }
      let read = withUnsafeMutableBytes(of: &bytes) { Glibc.read(pipe.rawValue, $0.baseAddress, $0.count) }
      if read > 0 { return true }
      if read < 0, Errno.current == .EINTR { continue }
      hasEnded = true
      return false
    }
  }

  /// Says, in the helper, that there is more. Where nobody has looked for long that is known already.
  package static func tell() {
    var entry = pollfd(fd: HelperProcess.progressDescriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&entry, 1, 0) == 1, entry.revents & Int16(POLLOUT) != 0 else { return }
    _ = Glibc.write(HelperProcess.progressDescriptor, "+", 1)
  }
}
