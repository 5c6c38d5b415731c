internal import Glibc
internal import PosixKit

/// A directory of a test's own, removed with all that is in it when the value ends.
package final class TemporaryDirectory: Sendable {
  /// Absolute, without a slash at its end.
  package let path: String

  /// - Parameter inMemory: where no disk makes a database wait.
  package init(prefix: String = "podcastfs-test", inMemory: Bool = false) throws {
    let base = inMemory ? "/dev/shm" : getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw PosixError.last("create a directory", base)
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Never into a mount that a failed test left there.
  deinit { Directories.removeTree(path) }

  /// A path in it.
  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file in it, with the directories above it.
  @discardableResult
  package func write(_ name: String, _ bytes: some Collection<UInt8>) throws -> String {
    let path = path(name)
    if let slash = path.lastIndex(of: "/") { try Directories.create(String(path[..<slash])) }
    try Directories.replace(path, with: Array(bytes))
    return path
  }

  @discardableResult
  package func write(_ name: String, _ text: String) throws -> String { try write(name, text.utf8) }
}
