internal import Glibc
internal import PodcastModel
package import PosixKit

extension EpisodeWriter {
  /// Brings what is written to the disk, then tells the journal. Waits for the disk.
  ///
  /// Where the disk fails, `present` is afterwards what is known to be on it: the kernel forgets such an error, and
  /// the next flush would succeed without the bytes.
  /// - Parameter flush: brings a file's data to the disk (a test's may fail).
  package func synchronize(
    _ flush: (borrowing FileDescriptor) throws(PosixError) -> Void = { file throws(PosixError) in
      try file.synchronize()
    }
  ) throws(PosixError) {
    try journal.withLock { journal throws(PosixError) in
      let known = journal.journal
      // Of one moment: what comes during the flush is not on the disk.
      var (present, sums, representation) = state.withLock { ($0.present, $0.sums, $0.representation) }
      let news = present.ranges.filter { !known.durable.contains($0) }
      var facts: [JournalRecord] = []
      if representation != known.representation { facts.append(.representation(representation)) }
      if !news.isEmpty {
        do throws(PosixError) {
          try flush(data)
        } catch {
          lose(known)
          throw error
        }
        for range in sums.missing(present, total: representation.total) {
          guard let crc = try GenerationCheck.sum(of: range, data) else { continue }
          let sum = Checksum(end: range.upperBound, crc: crc)
          sums.sums[range.lowerBound] = sum
          state.withLock { $0.sums.sums[range.lowerBound] = sum }
        }
        for (start, sum) in sums.sums.sorted(by: { $0.key < $1.key }) where known.sums[start] != sum {
          facts.append(.sum(start..<sum.end, sum.crc))
        }
        facts += news.map { .range($0) }
      }
      if !facts.isEmpty { try journal.append(facts) }
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
  private func lose(_ journal: RangeJournal) {
    state.withLock { state in
      var lost = state.present
      for run in journal.durable.ranges { lost.remove(run) }
      state.present = journal.durable
      state.sums = RunningChecksums(sums: journal.sums)
      for run in lost.ranges { map.remove(blocks: LiveMap.blocks(touching: run)) }
      map.set(received: state.present.count)
    }
  }
}
