import Configuration
import Glibc
import PosixKit

/// Places of a user who has just come; gone with the value.
final class TemporaryPlaces: Sendable {
  let root: String
  let places: Places

  init() throws {
    var template = Array("/tmp/podcastfs-catalog-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw PosixError.last("create a directory") }
    root = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    places = try Places(environment: ["HOME": root, "XDG_RUNTIME_DIR": "\(root)/run"])
  }

  deinit { Self.remove(root) }

  private static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in (try? Directories.names(in: path)) ?? [] { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
