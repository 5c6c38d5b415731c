internal import Glibc
package import PodcastModel
package import PosixKit

/// Reads a generation's bytes where they are, in the mount: no message, no copy through the daemon. Keeps what
/// it has open, also after the files have lost their names.
package final class EpisodeReader: Sendable {
  package let key: MediaKey
  package let generation: UInt32
  private let data: FileDescriptor
  private let map: LiveMap?
  /// What the journal said when there was no live map.
  private let journal: RangeJournal

  /// Opens what is there. With a shared lock on the data file, which keeps it from being evicted.
  /// - Throws: `PosixError`: ENOENT where it is not there.
  package init(_ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) throws(PosixError) {
    self.key = key
    self.generation = generation
    data = try FileDescriptor(opening: layout.data(key, generation), O_RDONLY)
    _ = data.tryLock(.shared)
    map = LiveMap.open(layout.map(key, generation), data: data, writable: false)
    var journal = RangeJournal()
    if map == nil {
      journal = RangeJournal(reading: layout.journal(key, generation))
      journal.durable.truncate(at: Int64(try data.status().st_size))
      guard journal.representation != nil else {
        throw PosixError(.ENOENT, "read", layout.journal(key, generation))
      }
    }
    self.journal = journal
  }

  /// Whether it sees bytes as they come.
  package var isLive: Bool { map != nil }

  /// The exact size, nil while it is not known.
  package var total: Int64? { map.map(\.total) ?? journal.representation?.total }

  /// Bytes that are there.
  package var received: Int64 { map?.received ?? journal.durable.count }

  package func contains(_ range: Range<Int64>) -> Bool {
    map?.contains(range) ?? journal.durable.contains(range)
  }

  /// The part of `count` bytes at `offset` that the file can have.
  private func range(at offset: Int64, count: Int) -> Range<Int64> {
    let (sum, overflow) = offset.addingReportingOverflow(Int64(count))
    let end = min(overflow ? .max : sum, total ?? .max)
    return offset..<max(offset, end)
  }

  /// Whether `read` would answer.
  package func canRead(at offset: Int64, count: Int) -> Bool {
    offset < 0 || contains(range(at: offset, count: count))
  }

  /// Copies bytes: as many as `buffer` takes or the file has; nil where any of them is not there.
  package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    guard offset >= 0 else { return 0 }
    let range = range(at: offset, count: buffer.count)
    guard contains(range) else { return nil }
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
    guard let count = try? data.read(into: part, at: offset), count == range.count else { return nil }
    return count
  }

  /// Notes that it was read now: the least recently read are evicted first. Kept as the data file's access
  /// time, so that it needs no message and survives both processes.
  package func noteRead() { data.markAccessed() }
}
