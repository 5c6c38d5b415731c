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
