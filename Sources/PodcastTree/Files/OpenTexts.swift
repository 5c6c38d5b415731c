internal import Glibc
internal import PosixKit

/// Texts that are made at each open, as who has them open reads them: files in the runtime directory, so that the process
/// which serves the mount next gives the rest of the same text.
final class OpenTexts: Sendable {
  private let directory: String
  /// Whether there may be such a process.
  private let isNeeded: Bool

  init(directory: String, isNeeded: Bool) {
    self.directory = directory
    self.isNeeded = isNeeded
    if isNeeded { clear() }
  }

  /// What both processes' sudden end has left.
  private func clear() {
    for name in (try? Directories.names(in: directory)) ?? [] {
      var status = stat()
      let path = directory + "/" + name
      if stat(path, &status) == 0, status.st_mtim.tv_sec < wallClockSeconds() - Self.lifetime { unlink(path) }
    }
  }

  /// Seconds: nobody has a text open for longer.
  private static let lifetime: Int64 = 86_400

  /// - Parameter make: the text as it is now.
  func open(for caller: Caller, _ make: () throws -> [UInt8]) throws -> TextFile {
    if caller.comesAgain, caller.place != 0, let bytes = try? Directories.readRegular(path(caller.place)) {
      return TextFile(bytes, kept: (caller.place, path(caller.place)))
    }
    let bytes = try make()
    let number = UInt64.random(in: 1 ... .max)
    guard isNeeded, (try? write(bytes, to: path(number))) != nil else { return TextFile(bytes) }
    return TextFile(bytes, kept: (number, path(number)))
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    try Directories.createPrivate(directory)
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600)
    do { try bytes.withUnsafeBytes { try file.append($0) } } catch {
      unlink(path)
      throw error
    }
  }

  private func path(_ number: UInt64) -> String { directory + "/" + String(number, radix: 16) }
}
