internal import Glibc
internal import PodcastModel
package import PosixKit

// What the disk has, and what the journal says of it.
extension EpisodeWriter {
  /// Brings what is written to the disk, then tells the journal. Waits for the disk.
  ///
  /// Where the disk fails, `present` is afterwards what is known to be on it: the kernel forgets such an error, and
  /// the next flush would succeed without the bytes.
  package func synchronize() throws(PosixError) {
    try synchronize { file throws(PosixError) in try file.synchronize() }
  }

  /// - Parameter flush: brings a file's data to the disk (a test's may fail).
  package func synchronize(
    _ flush: (borrowing FileDescriptor) throws(PosixError) -> Void
  ) throws(PosixError) {
    try journal.withLock { journal throws(PosixError) in
      // Of one moment: what comes during the flush is not on the disk.
      let (present, news, sums, representation) = state.withLock { state in
        return (
          state.present, state.present.ranges.filter { !state.durable.contains($0) },
          state.sums.news,
          state.isRepresentationNew ? state.representation : nil
        )
      }
      var facts: [JournalRecord] = []
      if let representation { facts.append(.representation(representation)) }
      if !news.isEmpty {
        do throws(PosixError) {
          try flush(data)
        } catch {
          let (durable, sums) = (journal.journal.durable, RunningChecksums(journal.journal.sums))
          state.withLock { state in loseUnflushed(durable, sums, &state) }
          throw error
        }
        facts += sums
        facts += try lateSums(present)
        facts += news.map { .range($0) }
      }
      if !facts.isEmpty { try journal.append(facts) }
      state.withLock { state in
        state.durable.formUnion(ByteRanges(news))
        state.sums.told(facts)
        if state.representation == representation { state.isRepresentationNew = false }
      }
      try nameWhole(journal.journal)
    }
  }

  /// Gives a file that is complete, by the journal's word, the name that says so.
  private func nameWhole(_ journal: RangeJournal) throws(PosixError) {
    guard let total = journal.representation?.total, journal.durable.contains(0..<total),
      state.withLock({ !$0.isWhole && $0.representation.total == total })
    else { return }
    let part = layout.part(key, generation)
    // Somebody may have deleted it.
    if rename(part, layout.whole(key, generation)) != 0 {
      if Errno.current == .ENOENT { return }
      throw PosixError.last("rename", part)
    }
    layout.flushNames()
    state.withLock { $0.isWhole = true }
  }

  /// Nothing but what the journal says is believed from now on.
  private func loseUnflushed(_ durable: ByteRanges, _ sums: RunningChecksums, _ state: inout State) {
    let shown = state.present
    var lost = shown
    for run in durable.ranges { lost.remove(run) }
    if lost.isEmpty { return }
    state.durable = durable
    state.present = durable
    state.sums = sums
    for run in lost.ranges { hide(run) }
    map.set(received: durable.count)
    giveBackShown(lost.ranges, of: shown, state.representation, besides: durable)
  }

  /// Takes a range out of the live map.
  private func hide(_ range: Range<Int64>) {
    let block = LiveMap.blockSize
    map.remove(blocks: range.lowerBound / block..<(range.upperBound + block - 1) / block)
  }

  /// These bytes are not what was written: they are to come again. The journal says so before anything else.
  package func discard(_ ranges: [Range<Int64>]) throws(PosixError) {
    let found = present
    let lost = ranges.map { $0.clamped(to: 0..<found.end) }.filter { !$0.isEmpty }
    if lost.isEmpty { return }
    if state.withLock({ $0.isWhole }) {
      // Not complete any more: readers from now on look at the live map.
      rename(layout.whole(key, generation), layout.part(key, generation))
      layout.flushNames()
      state.withLock { $0.isWhole = false }
    }
    try append(lost.map { .lost($0) }, synchronized: true)
    state.withLock { state in
      for range in lost {
        state.present.remove(range)
        state.durable.remove(range)
        state.sums.forget(range)
        hide(range)
      }
      map.set(received: state.present.count)
    }
    giveBackShown(lost, of: found, representation, besides: present)
  }

  func append(_ records: [JournalRecord], synchronized: Bool) throws(PosixError) {
    try journal.withLock { journal throws(PosixError) in
      try journal.append(records, synchronized: synchronized)
    }
  }

  /// The checksums of chunks that came out of order, from the bytes that are stored.
  private func lateSums(_ present: ByteRanges) throws(PosixError) -> [JournalRecord] {
    let missing = state.withLock { $0.sums.missing(present, total: $0.representation.total) }
    var records: [JournalRecord] = []
    for range in missing {
      guard let crc = try GenerationCheck.sum(of: range, data) else { continue }
      let sum = Checksum(end: range.upperBound, crc: crc)
      records.append(.sum(start: range.lowerBound, sum))
      state.withLock { state in
        state.sums.set(sum, of: range.lowerBound)
      }
    }
    return records
  }
}
