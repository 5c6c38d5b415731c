internal import Glibc
package import PodcastModel
package import PosixKit

/// Reads a generation's bytes where they are, without the daemon, also after the files have lost their names.
package final class EpisodeReader: Sendable {
  package let generation: UInt32
  private let data: FileDescriptor
  private let map: LiveMap?
  /// What there is where there is no live map.
  private let knownTotal: Int64?
  private let durable: ByteRanges

  /// What the disk could not read.
  private let damaged = Monitor(ByteRanges())

  /// Opens what is there. With a shared lock on the data file, which keeps it from being evicted.
  /// - Throws: `PosixError`: ENOENT where it is not there.
  package init(_ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) throws(PosixError) {
    self.generation = generation
    // The journal of a file that is renamed now says already that all of it is there.
    let isWhole = layout.isWhole(key, generation)
    data = try layout.openData(key, generation, O_RDONLY)
    if isWhole {
      let size = Int64(try data.status().st_size)
      (map, knownTotal, durable) = (nil, size, ByteRanges([0..<size]))
    } else {
      let journal = RangeJournal(reading: layout.journal(key, generation))
      guard let representation = journal.representation else {
        throw PosixError(.ENOENT, "read", layout.journal(key, generation))
      }
      map = LiveMap.open(layout, key, generation, writable: false, nonce: journal.identity ?? 0)
      var present = journal.durable
      present.truncate(at: Int64(try data.status().st_size))
      (knownTotal, durable) = (representation.total, present)
    }
    _ = data.tryLock(.shared)
  }

  /// A process that is just being started has all that this one has open, and its locks, until it has its program.
  deinit { data.unlock() }

  package var isLive: Bool { map != nil }

  /// The exact size, nil while it is not known.
  package var total: Int64? { map.map(\.total) ?? knownTotal }
  package var received: Int64 { map?.received ?? durable.count }

  package func contains(_ range: Range<Int64>) -> Bool {
    map?.contains(range) ?? durable.contains(range)
  }

  package var isWhole: Bool { total.map { contains(0..<$0) } ?? false }

  /// How many of `count` bytes at `offset` are there, one behind the other, as far as is known.
  package func available(at offset: Int64, upTo count: Int) -> Int {
    guard offset >= 0 else { return 0 }
    let range = range(at: offset, count: count)
    var end = range.lowerBound
    while end < range.upperBound {
      let next = min((end / LiveMap.blockSize + 1) * LiveMap.blockSize, range.upperBound)
      if !canRead(at: end, count: Int(next - end)) { break }
      end = next
    }
    return Int(end - range.lowerBound)
  }

  private func range(at offset: Int64, count: Int) -> Range<Int64> {
    let (sum, overflow) = offset.addingReportingOverflow(Int64(count))
    let end = min(overflow ? .max : sum, total ?? .max)
    return offset..<max(offset, end)
  }

  /// Whether `read` would answer, as far as is known.
  package func canRead(at offset: Int64, count: Int) -> Bool {
    guard offset >= 0 else { return true }
    let range = range(at: offset, count: count)
    return contains(range) && !isDamaged(at: offset, count: count)
  }

  /// Whether the disk could not read any of it.
  package func isDamaged(at offset: Int64, count: Int) -> Bool {
    let range = range(at: offset, count: count)
    return damaged.withLock { $0.ranges.contains { $0.overlaps(range) } }
  }

  /// Copies bytes: as many as `buffer` takes or the file has; nil where any of them is not there, or can't be read.
  package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    guard offset >= 0 else { return 0 }
    let range = range(at: offset, count: buffer.count)
    guard contains(range) else { return nil }
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
    guard let count = try? data.read(into: part, at: offset), count == range.count else {
      damaged.withLock { $0.insert(range) }
      return nil
    }
    // They may have been lost meanwhile.
    return contains(range) ? count : nil
  }

  /// The least recently read are evicted first. Kept as the data file's access time, which survives both processes.
  package func noteRead() { data.markAccessed() }
}
