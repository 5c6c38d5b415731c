internal import Glibc
internal import PosixKit

extension CacheLayout {
  private var sealPath: String { cache + "/transfers.seal" }

  /// A number that the daemon's store has too, from when a daemon has ended in order until the next one begins. While
  /// both have the same, no journal here knows more than the store: it is not an older copy, and has lost nothing.
  package var seal: Int64? {
    guard let bytes = try? Directories.readRegular(sealPath, limit: 64) else { return nil }
    return Int64(String(decoding: bytes, as: UTF8.self))
  }

  /// - Parameter seal: nil takes it away. After a power loss it may be missing, and all journals are read.
  package func set(seal: Int64?) {
    guard let seal else {
      unlink(sealPath)
      return
    }
    try? Directories.replace(sealPath, with: Array("\(seal)".utf8), outlivesPower: false)
  }
}
