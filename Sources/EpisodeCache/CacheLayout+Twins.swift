internal import Glibc
package import PodcastModel
package import PosixKit

// The same audio under two addresses (two feeds of one publisher, an archive and its mirror) is kept once.
extension CacheLayout {
  /// Lets a complete generation have the bytes of another one in the place of its own, where both are the same: by
  /// total and checksums, and then, since anybody can make bytes for a checksum, one by one. Reads both: takes its
  /// time.
  /// - Returns: whether they are kept once from now on; false where somebody has its file open, or they differ.
  package func share(
    _ key: MediaKey, _ generation: UInt32, with twin: MediaKey, _ twinsGeneration: UInt32
  ) throws(PosixError) -> Bool {
    let path = data(key, generation)
    let mine = RangeJournal(reading: journal(key, generation))
    let its = RangeJournal(reading: journal(twin, twinsGeneration))
    guard key != twin, let total = mine.representation?.total, mine.isWholeWithSums(total),
      its.representation?.total == total, its.isWholeWithSums(total), mine.sums == its.sums
    else { return false }
    let own = try FileDescriptor(openingRegular: path, O_RDWR)
    let other = try FileDescriptor(openingRegular: data(twin, twinsGeneration), O_RDONLY)
    let (first, second) = (try own.status(), try other.status())
    if first.st_ino == second.st_ino && first.st_dev == second.st_dev { return true }
    guard own.tryLock(.exclusive) else { return false }
    // Not left to their end: a process that is just being started has them, too.
    defer { own.unlock() }
    guard other.tryLock(.shared) else { return false }
    defer { other.unlock() }
    guard try Self.areEqual(own, other, total) else { return false }
    let temporary = path + Self.leftover
    unlink(temporary)
    try retrying("link", temporary) { link(data(twin, twinsGeneration), temporary) }
    try retrying("replace", path) { rename(temporary, path) }
    // Killed before this, its readers compare it with its sums.
    var writer = try RangeJournalWriter(continuing: journal(key, generation), mine)
    try writer.append([.place(.init(inode: UInt64(second.st_ino), modified: second.modified))]) { _ in }
    return true
  }

  /// What a killed daemon may have left of a file's second name.
  private static let leftover = ".twin"

  /// Removes what a killed daemon has left: second names, which would keep the bytes of what is evicted, and files that
  /// were to replace others, which may hold secret addresses.
  package func removeLeftovers() {
    for name in (try? Directories.names(in: episodes)) ?? []
    where name.hasSuffix(Self.leftover) || name.hasSuffix(Self.unfinished) {
      unlink(episodes + "/" + name)
    }
  }

  private static func areEqual(
    _ a: borrowing FileDescriptor, _ b: borrowing FileDescriptor, _ total: Int64
  ) throws(PosixError) -> Bool {
    // On the heap: the disk's threads have small stacks.
    let size = 128 << 10
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * size, alignment: 4096)
    defer { buffer.deallocate() }
    var position: Int64 = 0
    while position < total {
      let count = Int(min(Int64(size), total - position))
      let first = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      let second = UnsafeMutableRawBufferPointer(rebasing: buffer[size..<size + count])
      guard try a.read(into: first, at: position) == count, try b.read(into: second, at: position) == count,
        memcmp(first.baseAddress!, second.baseAddress!, count) == 0
      else { return false }
      position += Int64(count)
    }
    return true
  }
}

/// What equal audio has in common: its size, and one checksum over those of its chunks. Other audio may have it, too.
package struct AudioMark: Hashable, Sendable {
  package var total: Int64
  package var digest: UInt32

  package init(total: Int64, digest: UInt32) {
    self.total = total
    self.digest = digest
  }
}

extension RangeJournal {
  /// nil where not all is there, or chunks have no checksum.
  package var mark: AudioMark? {
    guard let total = representation?.total, isWholeWithSums(total) else { return nil }
    var digest = CRC32C()
    for (_, sum) in sums.sorted(by: { $0.key < $1.key }) {
      withUnsafeBytes(of: sum.crc.value.littleEndian) { digest.update($0) }
    }
    return AudioMark(total: total, digest: digest.value)
  }

  /// Whether all is there, and each chunk has its checksum.
  fileprivate func isWholeWithSums(_ total: Int64) -> Bool {
    durable.contains(0..<total) && Int64(sums.count) == (total + Self.chunk - 1) / Self.chunk
      && sums.allSatisfy { $0.value.end == min($0.key + Self.chunk, total) }
  }
}
