internal import Configuration
internal import PosixKit

/// Keeps the mount's record where other programs look for it. A runtime folder in /tmp is cleaned there by
/// systemd-tmpfiles, or by hand: then the record is written again.
final class RecordKeeper: Sendable {
  private let hasEnded = Monitor(false)
  private let ended: WakeupEvent
  private let write: @Sendable () throws -> Bool
  private let file: String

  /// - Parameters:
  ///   - file: the record, in a directory of its own kind.
  ///   - write: writes it, and makes the directories above it. Answers false where the mount has gone.
  /// - Throws: where it cannot be written.
  init(_ file: String, write: @escaping @Sendable () throws -> Bool) throws {
    (self.file, self.write) = (file, write)
    ended = try WakeupEvent()
    _ = try write()
    _ = PosixThread.attempt("record", stackSize: 256 << 10) { [self] in keep() }
  }

  private func keep() {
    guard let watch = try? FileWatch() else { return }
    while true {
      // The directory may be another one since.
      _ = watch.add(String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]), .vanishing)
      let isWritten = hasEnded.withLock { hasEnded in
        if hasEnded || Directories.exists(file) { return false }
        return (try? write()) ?? false
      }
      if isWritten { continue }
      guard Readiness.wait(for: .read, of: watch.descriptor, or: ended, until: .distantFuture) == .ready
      else {
        return
      }
      _ = watch.events()
    }
  }

  /// From here on nothing is written.
  func end() {
    hasEnded.withLock { $0 = true }
    ended.signal()
  }
}
