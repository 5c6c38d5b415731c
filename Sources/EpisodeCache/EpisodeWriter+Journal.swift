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
        facts += sums
        // What lies there after somebody else's write gets no sum, and no word that it is as it was written.
        if try hasOwnTime() {
          facts += try lateSums(present)
        } else if isComplete {
          _ = try takeTime()
        }
        facts.append(.place(.init(inode: UInt64(try data.status().st_ino), modified: map.modified)))
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

  /// What another program has done to the data file.
  package enum Deed: Hashable, Sendable {
    case cut, written
  }

  /// Lets go of what somebody else has cut off (what is written behind it would leave a hole), and of what is not as
  /// it was written, or can't be told from it, where somebody has written to the file.
  /// - Returns: whether anything was.
  package func discardWhatOthersChanged() throws(PosixError) -> Deed? {
    let (size, end) = (Int64(try data.status().st_size), present.end)
    if size < end {
      try discard([size..<end])
      map.set(modified: try data.status().modified)
      return .cut
    }
    if state.withLock({ $0.hasForeignTimes }) { return nil }
    if try hasOwnTime() { return nil }
    let modified = try data.status().modified
    let lost = try takeTime()
    if lost.isEmpty { return nil }
    try discard(lost)
    map.set(modified: modified)
    return .written
  }

  /// Whether the file was last written to here, as far as its time tells.
  private func hasOwnTime() throws(PosixError) -> Bool { try data.status().modified == map.modified }

  /// Compares what is there with its sums. Where all is as it was written the file's time is believed again: it was
  /// the file system that has changed it, as a network's do, which is not looked at again.
  /// - Returns: what is not as it was written, or has no sum.
  private func takeTime() throws(PosixError) -> [Range<Int64>] {
    let modified = try data.status().modified
    var (unsummed, sums) = state.withLock { ($0.present, $0.sums.sums) }
    var lost: [Range<Int64>] = []
    for (start, sum) in sums.sorted(by: { $0.key < $1.key }) {
      unsummed.remove(start..<sum.end)
      if try !GenerationCheck.agrees(start, sum, data) { lost.append(start..<sum.end) }
    }
    if lost.isEmpty { state.withLock { $0.hasForeignTimes = true } }
    if lost.isEmpty && unsummed.isEmpty { map.set(modified: modified) }
    return lost + unsummed.ranges
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
