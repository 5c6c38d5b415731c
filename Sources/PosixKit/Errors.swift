internal import CLinux
internal import Glibc

/// An `errno` value of Linux (errno(3)), as system calls leave it and as FUSE replies carry it.
package struct Errno: RawRepresentable, Hashable, Error, CustomStringConvertible {
  package var rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The value that the last failed call of this thread left.
  package static var current: Errno { Errno(rawValue: errno) }

  package static let EPERM = Errno(rawValue: Glibc.EPERM)
  package static let ENOENT = Errno(rawValue: Glibc.ENOENT)
  package static let EINTR = Errno(rawValue: Glibc.EINTR)
  package static let EIO = Errno(rawValue: Glibc.EIO)
  package static let EBADF = Errno(rawValue: Glibc.EBADF)
  package static let EAGAIN = Errno(rawValue: Glibc.EAGAIN)
  package static let ENOMEM = Errno(rawValue: Glibc.ENOMEM)
  package static let EACCES = Errno(rawValue: Glibc.EACCES)
  package static let EBUSY = Errno(rawValue: Glibc.EBUSY)
  package static let EEXIST = Errno(rawValue: Glibc.EEXIST)
  package static let ENOTDIR = Errno(rawValue: Glibc.ENOTDIR)
  package static let EISDIR = Errno(rawValue: Glibc.EISDIR)
  package static let EINVAL = Errno(rawValue: Glibc.EINVAL)
  package static let EMFILE = Errno(rawValue: Glibc.EMFILE)
  package static let ENFILE = Errno(rawValue: Glibc.ENFILE)
  package static let EFBIG = Errno(rawValue: Glibc.EFBIG)
  package static let ENOSPC = Errno(rawValue: Glibc.ENOSPC)
  package static let ENXIO = Errno(rawValue: Glibc.ENXIO)
  package static let EROFS = Errno(rawValue: Glibc.EROFS)
  package static let EPIPE = Errno(rawValue: Glibc.EPIPE)
  package static let ERANGE = Errno(rawValue: Glibc.ERANGE)
  package static let ENAMETOOLONG = Errno(rawValue: Glibc.ENAMETOOLONG)
  package static let ENOTEMPTY = Errno(rawValue: Glibc.ENOTEMPTY)
  package static let EREMOTEIO = Errno(rawValue: Glibc.EREMOTEIO)
  package static let ENODATA = Errno(rawValue: Glibc.ENODATA)
  package static let EPROTO = Errno(rawValue: Glibc.EPROTO)
  package static let EOPNOTSUPP = Errno(rawValue: Glibc.EOPNOTSUPP)
  package static let EADDRINUSE = Errno(rawValue: Glibc.EADDRINUSE)
  package static let ECONNABORTED = Errno(rawValue: Glibc.ECONNABORTED)
  package static let ENETUNREACH = Errno(rawValue: Glibc.ENETUNREACH)
  package static let ECONNRESET = Errno(rawValue: Glibc.ECONNRESET)
  package static let ENOBUFS = Errno(rawValue: Glibc.ENOBUFS)
  package static let ENOTCONN = Errno(rawValue: Glibc.ENOTCONN)
  package static let ETIMEDOUT = Errno(rawValue: Glibc.ETIMEDOUT)
  package static let ECONNREFUSED = Errno(rawValue: Glibc.ECONNREFUSED)
  package static let EHOSTUNREACH = Errno(rawValue: Glibc.EHOSTUNREACH)
  package static let ESTALE = Errno(rawValue: Glibc.ESTALE)
  package static let EDQUOT = Errno(rawValue: Glibc.EDQUOT)
  package static let EILSEQ = Errno(rawValue: Glibc.EILSEQ)
  package static let ECANCELED = Errno(rawValue: Glibc.ECANCELED)

  /// "ENOENT".
  package var name: String { podcastfs_errno_name(rawValue).map { String(cString: $0) } ?? "\(rawValue)" }

  /// The system's words for it: "No such file or directory".
  package var description: String {
    // Seldom the disk's own limit: people do not know the other one.
    if self == .EFBIG { return "File too large for its disk, or for the limit that ulimit -f shows" }
    return strerror(rawValue).map { String(cString: $0) } ?? "errno \(rawValue)"
  }
}

/// A system call that failed: what was tried, on what, and the reason.
package struct PosixError: Error, Hashable, Sendable, CustomStringConvertible {
  package var errno: Errno
  /// What was being done, as a person would say it: "open", "create the socket".
  package var operation: String
  /// The path or name it was done to.
  package var subject: String?

  package init(_ errno: Errno, _ operation: String, _ subject: String? = nil) {
    self.errno = errno
    self.operation = operation
    self.subject = subject
  }

  /// The reason that the last failed call of this thread left.
  package static func last(_ operation: String, _ subject: String? = nil) -> PosixError {
    PosixError(.current, operation, subject)
  }

  package var description: String {
    if let subject { return "cannot \(operation) \(subject): \(errno)" }
    return "cannot \(operation): \(errno)"
  }
}

/// Calls `body` again for as long as a signal interrupted it (EINTR): the one policy for that.
/// - Throws: `PosixError` where the call answers -1.
@discardableResult
package func retrying<R: FixedWidthInteger & SignedInteger>(
  _ operation: @autoclosure () -> String, _ subject: @autoclosure () -> String? = nil, _ body: () -> R
) throws(PosixError) -> R {
  while true {
    let result = body()
    if result != -1 { return result }
    let reason = Errno.current
    if reason != .EINTR { throw PosixError(reason, operation(), subject()) }
  }
}
