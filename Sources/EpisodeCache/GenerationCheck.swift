internal import Glibc
package import PodcastModel
package import PosixKit

/// Compares what is stored with its checksums.
package struct GenerationCheck: Hashable, Sendable {
  /// Chunks whose bytes are not what was written, or can't be read.
  package var damaged: [Range<Int64>] = []
  /// Bytes that agree with their checksum, and bytes that have none.
  package var sound: Int64 = 0
  package var unsummed: Int64 = 0

  /// Reads all that the journal of a generation speaks of.
  /// - Parameter goesOn: asked before each chunk; where it says no the check ends there.
  /// - Throws: `PosixError`: ENOENT where the data or its journal is not there.
  package init(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, goesOn: () -> Bool = { true }
  ) throws(PosixError) {
    let data = try FileDescriptor(openingRegular: layout.data(key, generation), O_RDONLY)
    let journal = RangeJournal(reading: layout.journal(key, generation))
    guard journal.representation != nil else {
      throw PosixError(.ENOENT, "check", layout.journal(key, generation))
    }
    _ = data.tryLock(.shared)
    defer { data.unlock() }
    for (start, sum) in journal.sums.sorted(by: { $0.key < $1.key }) where goesOn() {
      if try Self.agrees(start, sum, data) {
        sound += sum.end - start
      } else {
        damaged.append(start..<sum.end)
      }
    }
    let size = Int64(try data.status().st_size)
    for range in journal.unsummed.ranges where range.upperBound > size {
      damaged.append(max(range.lowerBound, size)..<range.upperBound)
    }
    unsummed = journal.unsummed.count
  }

  /// Which of the chunks that came last have not the checksums that the journal tells: a disk may say that it has what a
  /// power loss then takes.
  static func lost(
    _ data: borrowing FileDescriptor, _ journal: RangeJournal
  ) throws(PosixError) -> [Range<Int64>] {
    var lost: [Range<Int64>] = []
    for start in journal.recent.sorted() {
      guard let sum = journal.sums[start] else { continue }
      if try !agrees(start, sum, data) { lost.append(start..<sum.end) }
    }
    return lost
  }

  /// Whether a chunk has its checksum; one that can't be read has not.
  static func agrees(
    _ start: Int64, _ sum: Checksum, _ data: borrowing FileDescriptor
  ) throws(PosixError) -> Bool {
    do throws(PosixError) {
      return try Self.sum(of: start..<sum.end, data) == sum.crc
    } catch {
      if error.errno == .EIO { return false }
      throw error
    }
  }

  /// nil where the file ends before.
  static func sum(
    of range: Range<Int64>, _ data: borrowing FileDescriptor
  ) throws(PosixError) -> CRC32C? {
    // On the heap: the disk's threads have small stacks.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 4096)
    defer { buffer.deallocate() }
    var crc = CRC32C()
    var position = range.lowerBound
    while position < range.upperBound {
      let part = UnsafeMutableRawBufferPointer(
        rebasing: buffer.prefix(Int(min(Int64(buffer.count), range.upperBound - position))))
      let count = try data.read(into: part, at: position)
      if count == 0 { return nil }
      crc.update(UnsafeRawBufferPointer(rebasing: part[..<count]))
      position += Int64(count)
    }
    return crc
  }
}
