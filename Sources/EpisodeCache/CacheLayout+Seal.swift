internal import Glibc
internal import PosixKit

extension CacheLayout {
  private var sealPath: String { cache + "/transfers.seal" }

  /// A number that the daemon's store has too, from when a daemon has ended in order until the next one begins. While
  /// both have the same, no journal here knows more than the store: it is not an older copy, and has lost nothing.
  ///
  /// nil, too, where something has come into the folder of the episodes, or gone from it, since: another cache is in its
  /// place, or a copy of before has been unpacked over it.
  package var seal: Int64? {
    guard let bytes = try? Directories.readRegular(sealPath, limit: 128) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard words.count == 2, let folder, words[1] == folder else { return nil }
    return Int64(words[0])
  }

  /// - Parameter seal: nil takes it away. After a power loss it may be missing, and all journals are read.
  package func set(seal: Int64?) {
    guard let seal, let folder else {
      unlink(sealPath)
      return
    }
    try? Directories.replace(sealPath, with: Array("\(seal) \(folder)".utf8), outlivesPower: false)
  }

  /// Which folder has the episodes, and when its names, or its own times, were last changed: nobody can set that.
  private var folder: String? {
    var status = stat()
    guard lstat(episodes, &status) == 0 else { return nil }
    return "\(status.st_ino) \(status.st_ctim.tv_sec) \(status.st_ctim.tv_nsec)"
  }
}
