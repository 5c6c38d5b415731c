internal import Glibc
package import PodcastModel
package import PosixKit

/// The one writer of a generation's bytes, in the daemon: data first, then the live map, then, from another
/// thread and at leisure, the journal.
package final class EpisodeWriter: Sendable {
  package let key: MediaKey
  package let generation: UInt32

  struct State: ~Copyable {
    var representation: Representation
    var present: ByteRanges
    var sums = RunningChecksums()
    /// Whether all bytes are on the disk, and the file has the name that says so.
    var isWhole = false
  }
  let state: Monitor<State>
  /// Only `synchronize` and `set(_:)` append, one at a time.
  let journal: Monitor<RangeJournalWriter>
  let data: FileDescriptor
  let map: LiveMap
  let layout: CacheLayout

  /// Begins a generation with no bytes.
  /// - Throws: `PosixError`: EEXIST where it had begun before, ENOMEM where the runtime folder is full.
  package init(
    creating layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, _ representation: Representation
  ) throws {
    try layout.create()
    self.key = key
    self.generation = generation
    self.layout = layout
    data = try FileDescriptor(
      openingRegular: layout.part(key, generation), O_RDWR | O_CREAT | O_EXCL | CacheLayout.keepsAccessTime)
    do {
      let nonce = UInt64.random(in: 1 ... .max)
      journal = Monitor(
        try RangeJournalWriter.create(
          layout.journal(key, generation), [.identity(nonce), .representation(representation)]))
      map = try LiveMap.create(layout, key, generation, nonce: nonce, total: representation.total)
    } catch {
      layout.remove(key, generation)
      throw error
    }
    state = Monitor(State(representation: representation, present: ByteRanges()))
  }

  /// Goes on with a generation: what its journal says, and what the live map says where it is of this run of
  /// the machine, so that a killed daemon loses nothing. Without the map, what came last is compared with its checksums.
  /// - Throws: `PosixError`: ENOENT where the data or a journal that says what it is of is not there.
  package init(continuing layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) throws {
    self.key = key
    self.generation = generation
    self.layout = layout
    let isWhole = layout.isWhole(key, generation)
    data = try FileDescriptor(
      openingRegular: layout.data(key, generation), O_RDWR | CacheLayout.keepsAccessTime)
    let size = Int64(try data.status().st_size)
    let path = layout.journal(key, generation)
    let kept = RangeJournal(reading: path)
    var writer: RangeJournalWriter
    if isWhole && kept.representation?.total != size {
      // The name says that all is here; the journal is lost.
      writer = try RangeJournalWriter.create(
        path,
        [
          .identity(.random(in: 1 ... .max)), .representation(Representation(total: size)), .range(0..<size),
        ])
    } else {
      guard kept.representation != nil else { throw PosixError(.ENOENT, "continue", path) }
      writer = RangeJournalWriter(continuing: path, kept)
    }
    var representation = writer.journal.representation ?? Representation()
    let nonce = writer.journal.identity ?? 0
    let live = isWhole ? nil : LiveMap.open(layout, key, generation, writable: true, nonce: nonce)
    // A total that was learnt a moment before a kill: the map's last block counts by it.
    representation.total = representation.total ?? live?.total
    if live == nil && !isWhole {
      let lost = try GenerationCheck.disagreeing(kept.recent, data, kept).map { JournalRecord.lost($0) }
      if !lost.isEmpty { try writer.append(lost, synchronized: false) }
    }
    var present = writer.journal.durable
    let end = min(representation.total ?? size, size)
    if isWhole { present.insert(0..<size) }
    if let live { present.formUnion(live.present(upTo: end)) }
    present.truncate(at: end)
    try Directories.createPrivate(layout.maps)
    map = try live ?? LiveMap.create(layout, key, generation, nonce: nonce, total: representation.total)
    let sums = RunningChecksums(sums: writer.journal.sums)
    journal = Monitor(writer)
    state = Monitor(State(representation: representation, present: present, sums: sums, isWhole: isWhole))
    map.set(total: representation.total)
    state.withLock { state in for run in state.present.ranges { publish(run, state) } }
  }

  package var representation: Representation { state.withLock { $0.representation } }
  package var present: ByteRanges { state.withLock { $0.present } }
  package var received: Int64 { map.received }

  /// Whether nobody has deleted the data file.
  package var hasName: Bool { (try? data.status().st_nlink) ?? 1 > 0 }

  package var isComplete: Bool {
    state.withLock { state in
      state.representation.total.map { state.present.contains(0..<$0) } ?? false
    }
  }

  /// Writes pieces that lie one behind the other to their place, then shows them to the readers. In one go: a slow disk
  /// takes as long for a small one. What was written before an error counts.
  package func write(_ pieces: [UnsafeRawBufferPointer], at offset: Int64) throws(PosixError) {
    var rest = pieces.filter { !$0.isEmpty }
    var offset = offset
    while !rest.isEmpty {
      let most = rest.reduce(0) { $0 + Int64($1.count) }
      guard offset <= map.capacity - most else { throw PosixError(.EFBIG, "write") }
      let count = Int64(try data.writeSome(rest, at: offset))
      state.withLock { state in
        state.present.insert(offset..<offset + count)
        let end = offset + count
        while offset < end {
          let written = UnsafeRawBufferPointer(rebasing: rest[0].prefix(Int(end - offset)))
          state.sums.add(written, at: offset)
          offset += Int64(written.count)
          rest[0] = UnsafeRawBufferPointer(rebasing: rest[0].dropFirst(written.count))
          if rest[0].isEmpty { rest.removeFirst() }
        }
        publish(end - count..<end, state)
      }
    }
  }

  /// Shows in the live map the blocks of a range that are whole by now.
  private func publish(_ range: Range<Int64>, _ state: borrowing State) {
    let block = LiveMap.blockSize
    guard let run = state.present.run(at: range.lowerBound) else { return }
    let first = max(range.lowerBound / block, (run.lowerBound + block - 1) / block)
    // The last block of the file is whole though it is not full.
    let last = run.upperBound == state.representation.total ? run.upperBound + block - 1 : run.upperBound
    let end = min((range.upperBound + block - 1) / block, last / block)
    if first < end { map.add(blocks: first..<end) }
    map.set(received: state.present.count)
  }

  /// How many of `bytes`, which must be stored at `offset`, are the same as the stored ones.
  package func agreement(of bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) -> Int {
    var agreed = 0
    return try withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer throws(PosixError) in
      while agreed < bytes.count {
        let size = min(buffer.count, bytes.count - agreed)
        let stored = UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
        let count = try data.read(into: stored, at: offset + Int64(agreed))
        let piece = bytes[agreed..<agreed + count]
        if !stored[..<count].elementsEqual(piece) {
          return agreed + zip(stored[..<count], piece).prefix { $0 == $1 }.count
        }
        agreed += count
        if count < size { break }
      }
      return agreed
    }
  }

  /// Learns more of the representation (its total at the end, a validator); the next `synchronize` writes it
  /// down. Where there are no bytes yet it may be another one: that is written down before any comes, so that
  /// a killed daemon leaves no bytes under another one's validator.
  package func set(_ representation: Representation) throws(PosixError) {
    if let total = representation.total, total > map.capacity { throw PosixError(.EFBIG, "write") }
    if state.withLock({ $0.present.isEmpty }) {
      try journal.withLock { journal throws(PosixError) in
        try journal.append([.representation(representation)], synchronized: false)
      }
    }
    try state.withLock { state throws(PosixError) in
      state.representation = representation
      map.set(total: representation.total)
      guard let total = representation.total else { return }
      state.present.truncate(at: total)
      map.set(received: state.present.count)
      // The last block counts from now on, though it is not full.
      if let run = state.present.ranges.last { publish(run, state) }
      if Int64(try data.status().st_size) > total { try data.truncate(to: total) }
    }
  }

  /// Takes the live map's name away: the file's name says it all.
  package func removeMap() { unlink(layout.map(key, generation)) }
}
