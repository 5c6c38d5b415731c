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
  private let journalPath: String
  /// Whether the data file had more than all bytes when it was opened: the daemon is to look at it.
  private let isTooLong: Bool

  private struct Findings {
    /// Which chunks are compared with their checksums before any of them is given, and those.
    var doubt: Doubt
    var sums: [Int64: Checksum]
    var recent: Set<Int64>
    /// When the file was last written to, as far as that has been looked at; nil where the live map knows it.
    var modified: Int64?
    var checked: Set<Int64> = []
    var damaged = ByteRanges()
    /// What has not been taken.
    var news = ByteRanges()
  }
  private let findings: Monitor<Findings>

  /// Opens what is there. With a shared lock on the data file, which keeps it from being evicted.
  /// - Parameter isVouched: whether the daemon has just said that this is what it writes.
  /// - Throws: `PosixError`: ENOENT where it is not there.
  package init(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, isVouched: Bool = false
  ) throws(PosixError) {
    self.key = key
    self.generation = generation
    data = try FileDescriptor(openingRegular: layout.data(key, generation), O_RDONLY)
    _ = data.tryLock(.shared)
    journalPath = layout.journal(key, generation)
    if isVouched,
      let map = LiveMap.open(layout, key, generation, data: data, writable: false, journal: nil)
    {
      (self.map, journal, isTooLong) = (map, RangeJournal(), false)
      findings = Monitor(Findings(doubt: .none, sums: [:], recent: []))
      return
    }
    var journal = RangeJournal(reading: layout.journal(key, generation))
    map = LiveMap.open(layout, key, generation, data: data, writable: false, journal: journal)
    let status = try data.status()
    let doubt = map == nil ? Doubt(of: status, journal) : .none
    journal.durable.truncate(at: Int64(status.st_size))
    guard map != nil || journal.representation != nil else {
      throw PosixError(.ENOENT, "read", layout.journal(key, generation))
    }
    if doubt == .all { for range in journal.unsummed.ranges { journal.durable.remove(range) } }
    self.journal = journal
    isTooLong = journal.representation?.total.map { Int64(status.st_size) > $0 } ?? false
    findings = Monitor(
      Findings(
        doubt: doubt, sums: journal.sums, recent: Set(journal.recent),
        modified: map == nil ? status.modified : nil))
  }

  /// A process that is just being started has all that this one has open, and its locks, until it has its program.
  deinit { data.unlock() }

  /// Whether it sees bytes as they come.
  package var isLive: Bool { map != nil }

  /// The exact size, nil while it is not known.
  package var total: Int64? { map.map(\.total) ?? journal.representation?.total }

  /// Bytes that are there.
  package var received: Int64 { map?.received ?? journal.durable.count }

  /// How many have come, also those that were there already.
  package var progress: Int64 { map?.progress ?? journal.durable.count }

  package func contains(_ range: Range<Int64>) -> Bool {
    map?.contains(range) ?? journal.durable.contains(range)
  }

  /// Whether every byte is there, and nothing else.
  package var isWhole: Bool { !isTooLong && total.map { contains(0..<$0) } ?? false }

  /// How many of `count` bytes at `offset` are there, one behind the other, as far as is known.
  package func available(at offset: Int64, upTo count: Int) -> Int {
    guard offset >= 0 else { return 0 }
    let range = range(at: offset, count: count)
    var end = range.lowerBound
    while end < range.upperBound {
      let next = min((end / LiveMap.blockSize + 1) * LiveMap.blockSize, range.upperBound)
      guard canRead(at: end, count: Int(next - end)) else {
        if let edge = map?.edge(ofBlock: end / LiveMap.blockSize), edge > end {
          let part = end..<min(edge, next)
          if canRead(at: part.lowerBound, count: part.count) { end = part.upperBound }
        }
        break
      }
      end = next
    }
    return Int(end - range.lowerBound)
  }

  /// What was found to be others than the bytes that were written, or can't be read.
  package var damaged: ByteRanges { findings.withLock { $0.damaged } }

  /// The same, each range once: for who has it fetched again.
  package func takeDamage() -> ByteRanges {
    findings.withLock { findings in
      defer { findings.news = ByteRanges() }
      return findings.news
    }
  }

  /// The part of `count` bytes at `offset` that the file can have.
  private func range(at offset: Int64, count: Int) -> Range<Int64> {
    let (sum, overflow) = offset.addingReportingOverflow(Int64(count))
    let end = min(overflow ? .max : sum, total ?? .max)
    return offset..<max(offset, end)
  }

  /// Whether `read` would answer, as far as is known.
  package func canRead(at offset: Int64, count: Int) -> Bool {
    guard offset >= 0 else { return true }
    let range = range(at: offset, count: count)
    return contains(range) && !findings.withLock { $0.damaged.ranges.contains { $0.overlaps(range) } }
  }

  /// Copies bytes: as many as `buffer` takes or the file has; nil where any of them is not there, or `damaged`.
  package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    guard offset >= 0 else { return 0 }
    let range = range(at: offset, count: buffer.count)
    guard contains(range) else { return nil }
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
    guard let count = try? data.read(into: part, at: offset), count == range.count else {
      noteDamage(range)
      return nil
    }
    // The disk may have lost them meanwhile, or somebody has written to the file.
    return contains(range) && isSound(range) ? count : nil
  }

  /// Whether both have the same file open, not two that had the same name.
  package func isOfSameFile(as other: EpisodeReader) -> Bool {
    guard let own = try? data.status(), let its = try? other.data.status() else { return false }
    return own.st_dev == its.st_dev && own.st_ino == its.st_ino
  }

  /// Looks whether somebody else has cut what is whole: the kernel may read it without us.
  package func noteLength() {
    guard isWhole, let total, let size = try? data.status().st_size, size < total else { return }
    noteDamage(Int64(size)..<total)
  }

  private func noteDamage(_ range: Range<Int64>) {
    findings.withLock { findings in
      findings.damaged.insert(range)
      findings.news.insert(range)
    }
  }

  /// Doubts all from now on where somebody else has written to what nobody writes to any more.
  private func lookAtTime() {
    guard let modified = try? data.status().modified else { return }
    let isKnown = findings.withLock { $0.modified.map { $0 == modified } }
    if isKnown ?? (map?.modified == modified) { return }
    // What is being written has its time a moment later.
    if map != nil, !isWhole || map?.modified == modified { return }
    let journal = map == nil ? self.journal : RangeJournal(reading: journalPath)
    findings.withLock { findings in
      findings.doubt = .all
      findings.sums = journal.sums
      findings.modified = modified
      findings.checked = []
    }
  }

  /// Compares the chunks of a range that are doubted with their checksums, each once.
  private func isSound(_ range: Range<Int64>) -> Bool {
    lookAtTime()
    var start = range.lowerBound / RangeJournal.chunk * RangeJournal.chunk
    while start < range.upperBound {
      defer { start += RangeJournal.chunk }
      let (doubt, sum, isChecked) = findings.withLock { findings in
        (
          findings.doubt.concerns(start, findings.recent), findings.sums[start],
          findings.checked.contains(start)
        )
      }
      if doubt == .none { continue }
      let part = range.clamped(to: start..<start + RangeJournal.chunk)
      if doubt == .all, part.upperBound > sum?.end ?? start {
        noteDamage(part)
        continue
      }
      guard let sum, !isChecked else { continue }
      let isRight = (try? GenerationCheck.agrees(start, sum, data)) ?? false
      findings.withLock { _ = $0.checked.insert(start) }
      if !isRight { noteDamage(start..<sum.end) }
    }
    return !findings.withLock { $0.damaged.ranges.contains { $0.overlaps(range) } }
  }

  /// Notes that it was read now: the least recently read are evicted first. Kept as the data file's access
  /// time, so that it needs no message and survives both processes.
  package func noteRead() { data.markAccessed() }
}
