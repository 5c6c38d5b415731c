internal import Glibc
package import PodcastModel
package import PosixKit

/// The checksums of a file that is being written: taken as bytes pass by, where they come in order.
struct RunningChecksums {
  /// By the start of the chunk.
  var sums: [Int64: Checksum] = [:]

  private static var chunk: Int64 { RangeJournal.chunk }

  mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    var (rest, position) = (bytes, offset)
    while !rest.isEmpty {
      let start = position / Self.chunk * Self.chunk
      let piece = UnsafeRawBufferPointer(
        rebasing: rest.prefix(Int(min(Int64(rest.count), start + Self.chunk - position))))
      if position == start || sums[start]?.end == position {
        var crc = position == start ? CRC32C() : sums[start]?.crc ?? CRC32C()
        crc.update(piece)
        sums[start] = Checksum(end: position + Int64(piece.count), crc: crc)
      }
      position += Int64(piece.count)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
    }
  }

  /// Chunks of which all that the file can have is there, but no sum: those that came out of order.
  func missing(_ present: ByteRanges, total: Int64?) -> [Range<Int64>] {
    var result: [Range<Int64>] = []
    for run in present.ranges {
      var start = (run.lowerBound + Self.chunk - 1) / Self.chunk * Self.chunk
      while start < run.upperBound {
        let end = min(start + Self.chunk, total ?? .max)
        if end <= run.upperBound && sums[start]?.end != end { result.append(start..<end) }
        start += Self.chunk
      }
    }
    return result
  }
}

/// Compares what is stored with its checksums.
package struct GenerationCheck: Hashable, Sendable {
  /// Chunks whose bytes are not what was written, or can't be read.
  package var damaged: [Range<Int64>] = []
  /// Bytes that agree with their checksum.
  package var sound: Int64 = 0

  /// - Throws: `PosixError`: ENOENT where the data or its journal is not there.
  package init(_ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) throws(PosixError) {
    let data = try layout.openData(key, generation, O_RDONLY | CacheLayout.keepsAccessTime)
    let journal = RangeJournal(reading: layout.journal(key, generation))
    guard journal.representation != nil else {
      throw PosixError(.ENOENT, "check", layout.journal(key, generation))
    }
    _ = data.tryLock(.shared)
    defer { data.unlock() }
    damaged = try Self.disagreeing(journal.sums.keys, data, journal)
    let summed = journal.sums.reduce(0) { $0 + $1.value.end - $1.key }
    sound = summed - damaged.reduce(0) { $0 + Int64($1.count) }
  }

  /// Which of these chunks have not the checksums that the journal tells, or can't be read.
  static func disagreeing(
    _ starts: some Sequence<Int64>, _ data: borrowing FileDescriptor, _ journal: RangeJournal
  ) throws(PosixError) -> [Range<Int64>] {
    var found: [Range<Int64>] = []
    for start in Set(starts).sorted() {
      guard let sum = journal.sums[start] else { continue }
      do throws(PosixError) {
        if try Self.sum(of: start..<sum.end, data) == sum.crc { continue }
      } catch {
        if error.errno != .EIO { throw error }
      }
      found.append(start..<sum.end)
    }
    return found
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
