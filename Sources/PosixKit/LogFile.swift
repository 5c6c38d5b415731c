internal import Glibc
internal import WebValues

/// A file that programs append lines to, each with its time and process; it is kept under 1 MiB, with the one
/// before beside it. Lines must hold no credentials.
package struct LogFile: Sendable {
  package let path: String
  private static let limit = 1 << 20
  /// Characters of a message that are kept.
  private static let longest = 2000

  package init(_ path: String) { self.path = path }

  /// Appends one line; what can't be written is dropped.
  package func write(_ text: String) {
    let message = PrintableText.line(String(text.prefix(Self.longest)))
    let line = "\(CivilTime.iso8601(Int64(time(nil)))) [\(getpid())] \(message)\n"
    guard let file = try? FileDescriptor(openingRegular: path, O_WRONLY | O_APPEND | O_CREAT) else { return }
    if let size = try? file.status().st_size, size > Self.limit { rename(path, path + ".old") }
    Array(line.utf8).withUnsafeBytes { try? file.append($0) }
  }
}
