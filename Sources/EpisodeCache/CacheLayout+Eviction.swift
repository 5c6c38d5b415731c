internal import Glibc
package import PodcastModel
internal import PosixKit

extension CacheLayout {
  /// When a generation was last read (see `EpisodeReader.noteRead`), in nanoseconds since 1970; nil where its
  /// data file is not there.
  package func lastRead(_ key: MediaKey, _ generation: UInt32) -> Int64? {
    var status = stat()
    guard lstat(data(key, generation), &status) == 0 else { return nil }
    return Int64(status.st_atim.tv_sec) * 1_000_000_000 + Int64(status.st_atim.tv_nsec)
  }

  /// When a generation's bytes were last written, in seconds since 1970; nil where its data file is not there.
  package func lastWritten(_ key: MediaKey, _ generation: UInt32) -> Int64? {
    var status = stat()
    return stat(data(key, generation), &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
  }

  /// Removes a generation unless somebody has it open.
  /// - Returns: whether it is gone.
  package func evict(_ key: MediaKey, _ generation: UInt32) -> Bool {
    do {
      let file = try FileDescriptor(openingRegular: data(key, generation), O_RDWR)
      // Readers hold a shared lock for as long as they have it open.
      guard file.tryLock(.exclusive) else { return false }
      // The bytes may have another name (`share`).
      file.unlock()
    } catch {
      // It can't be told who has it open, unless it is there no more.
      if hasData(key, generation) { return false }
    }
    return drop(key, generation).failure == nil
  }
}
