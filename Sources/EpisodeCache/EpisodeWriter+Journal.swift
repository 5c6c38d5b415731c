internal import Glibc
internal import PodcastModel
package import PosixKit

// What the disk has, and what the journal says of it.
extension EpisodeWriter {
  /// What the owner of the generation wants to find in its journal when all else is lost; at most 24 KiB. The next
  /// `synchronize` writes it down.
  package var note: [UInt8] { state.withLock { $0.note } }

  package func set(note: [UInt8]) {
    state.withLock { state in
      guard state.note != note, note.count <= JournalRecord.longestNote else { return }
      state.note = note
      state.isNoteNew = true
    }
  }

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
      let (present, news, sums, representation, note) = state.withLock { state in
        return (
          state.present, state.present.ranges.filter { !state.durable.contains($0) },
          state.sums.news,
          state.isRepresentationNew ? state.representation : nil, state.isNoteNew ? state.note : nil
        )
      }
      var facts: [JournalRecord] = []
      if let representation { facts.append(.representation(representation)) }
      if let note { facts.append(.note(note)) }
      if !news.isEmpty {
        do throws(PosixError) {
          try flush(data)
        } catch {
          let (durable, sums) = (journal.journal.durable, RunningChecksums(journal.journal.sums))
          state.withLock { state in loseUnflushed(durable, sums, &state) }
          throw error
        }
        facts += news.map { .range($0) }
        facts += sums + (try lateSums(present))
        let status = try data.status()
        facts.append(.place(.init(inode: UInt64(status.st_ino), modified: status.modified)))
      }
      if facts.isEmpty { return }
      try journal.append(facts) { map.set(journalPending: $0) }
      map.set(journalLength: journal.journal.length)
      state.withLock { state in
        state.durable.formUnion(ByteRanges(news))
        state.sums.told(facts)
        if state.representation == representation { state.isRepresentationNew = false }
        if state.note == note { state.isNoteNew = false }
      }
    }
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

  /// Lets go of what somebody else has cut off: what is written behind it would leave a hole.
  /// - Returns: whether anything was.
  package func discardWhatWasCut() throws(PosixError) -> Bool {
    let (size, end) = (Int64(try data.status().st_size), present.end)
    guard size < end else { return false }
    try discard([size..<end])
    return true
  }

  func append(_ records: [JournalRecord], synchronized: Bool) throws(PosixError) {
    try journal.withLock { journal throws(PosixError) in
      try journal.append(records, synchronized: synchronized) { map.set(journalPending: $0) }
      map.set(journalLength: journal.journal.length)
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
