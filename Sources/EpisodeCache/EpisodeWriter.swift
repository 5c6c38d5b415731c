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
    /// Whether the journal does not have it yet.
    var isRepresentationNew = false
    var present: ByteRanges
    var durable: ByteRanges
    var sums: RunningChecksums
    /// Whether all bytes are on the disk, and the file has the name that says so.
    var isWhole = false
    /// How far what has come once more from the beginning has been compared.
    var compared: Int64 = 0
    /// The furthest that comparing has reached since the last write.
    var mostCompared: Int64 = 0
    /// Whether the live map could not grow.
    var isMapFull = false
  }
  let state: Monitor<State>
  /// Only `synchronize`, `discard` and `set(_:)` append, one at a time.
  let journal: Monitor<RangeJournalWriter>
  let data: FileDescriptor
  let map: LiveMap
  /// Whether the runtime folder had no room for its live map, which lies in the cache.
  package let hasSpareMap: Bool
  /// Whether the last write failed because the runtime folder has no room for the live map to grow.
  package var lacksRuntimeRoom: Bool { !hasSpareMap && state.withLock { $0.isMapFull } }
  let layout: CacheLayout

  /// Begins a generation with no bytes.
  /// - Throws: `PosixError`: EEXIST where it had begun before.
  package init(
    creating layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, _ representation: Representation
  ) throws {
    try layout.create()
    self.key = key
    self.generation = generation
    self.layout = layout
    let path = layout.part(key, generation)
    data = try FileDescriptor(openingRegular: path, O_RDWR | O_CREAT | O_EXCL)
    do {
      let nonce = UInt64.random(in: 1 ... .max)
      journal = Monitor(
        try RangeJournalWriter(
          creating: layout.journal(key, generation), [.identity(nonce), .representation(representation)]))
      (map, hasSpareMap) = try LiveMap.create(
        layout, key, generation, nonce: nonce, total: representation.total)
    } catch {
      layout.remove(key, generation)
      throw error
    }
    map.set(total: representation.total)
    state = Monitor(
      State(
        representation: representation, present: ByteRanges(), durable: ByteRanges(), sums: RunningChecksums()
      ))
  }

  /// Goes on with a generation: what its journal says, and what the live map says where it is of this run of
  /// the machine, so that a killed daemon loses nothing. Without the map, what came last is compared with its checksums.
  /// - Throws: `PosixError`: ENOENT where the data or a journal that says what it is of is not there.
  package init(continuing layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) throws {
    self.key = key
    self.generation = generation
    self.layout = layout
    let path = layout.data(key, generation)
    let isWhole = layout.isWhole(key, generation)
    data = try FileDescriptor(openingRegular: path, O_RDWR)
    let size = Int64(try data.status().st_size)
    var kept = RangeJournal(reading: layout.journal(key, generation))
    var writer: RangeJournalWriter
    if isWhole && kept.representation?.total != size {
      // The name says that all is here; the journal is lost.
      let facts: [JournalRecord] = [
        .identity(.random(in: 1 ... .max)), .representation(Representation(total: size)), .range(0..<size),
      ]
      writer = try RangeJournalWriter(creating: layout.journal(key, generation), facts)
      kept = writer.journal
    } else {
      guard kept.representation != nil else { throw PosixError(.ENOENT, "continue", path) }
      writer = try RangeJournalWriter(continuing: layout.journal(key, generation), kept)
    }
    let representation = kept.representation ?? Representation()
    let nonce = kept.identity ?? 0
    let live = isWhole ? nil : LiveMap.open(layout, key, generation, writable: true, nonce: nonce)
    if live == nil && !isWhole {
      let lost = try GenerationCheck.lost(data, kept).map { JournalRecord.lost($0) }
      for record in lost { kept.apply(record) }
      if !lost.isEmpty { try writer.append(lost, synchronized: false) }
    }
    var present = kept.durable
    if isWhole { present.insert(0..<size) }
    present.truncate(at: size)
    let durable = present
    if let live {
      (map, hasSpareMap) = (live, access(layout.spareMap(key, generation), F_OK) == 0)
      let end = representation.total ?? size
      let blocks = (end + LiveMap.blockSize - 1) / LiveMap.blockSize
      live.blocks().forEach(upTo: min(blocks, live.reservedBlocks)) { run in
        present.insert(run.lowerBound * LiveMap.blockSize..<min(run.upperBound * LiveMap.blockSize, end))
      }
      // Readers may have had these, too: no other file's may follow on them.
      for edge in live.edges { present.insert(edge) }
      present.truncate(at: min(end, size))
    } else {
      try Directories.createPrivate(layout.maps)
      (map, hasSpareMap) = try LiveMap.create(
        layout, key, generation, nonce: nonce, total: representation.total)
    }
    journal = Monitor(writer)
    state = Monitor(
      State(
        representation: representation, present: present, durable: durable,
        sums: RunningChecksums(kept.sums), isWhole: isWhole))
    map.set(total: representation.total)
    map.set(received: present.count)
    try state.withLock { state throws(PosixError) in
      for run in state.present.ranges { try publish(run, &state) }
    }
  }

  package var representation: Representation { state.withLock { $0.representation } }
  package var present: ByteRanges { state.withLock { $0.present } }
  package var received: Int64 { map.received }

  /// Whether every byte is there.
  package var isComplete: Bool {
    state.withLock { state in
      state.representation.total.map { state.present.contains(0..<$0) } ?? false
    }
  }

  /// Whether the data file still has its name: nobody has deleted the cache, or put another one in its place.
  package var isLinked: Bool {
    var status = stat()
    guard let own = try? data.status(), lstat(layout.data(key, generation), &status) == 0 else {
      return false
    }
    return own.st_dev == status.st_dev && own.st_ino == status.st_ino && own.st_nlink > 0
  }

  /// Writes bytes to their place, then shows them to the readers.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) {
    try write([bytes], at: offset)
  }

  /// The same of pieces that lie one behind the other, in one go: a slow disk takes as long for a small one. What was
  /// written before an error counts.
  package func write(_ pieces: [UnsafeRawBufferPointer], at offset: Int64) throws(PosixError) {
    var rest = pieces.filter { !$0.isEmpty }
    var offset = offset
    while !rest.isEmpty {
      let most = rest.reduce(0) { $0 + Int64($1.count) }
      guard offset <= LiveMap.capacity - most else { throw PosixError(.EFBIG, "write") }
      let count = Int64(try data.writeSome(rest, at: offset))
      try state.withLock { state throws(PosixError) in
        state.present.insert(offset..<offset + count)
        state.mostCompared = 0
        let end = offset + count
        while offset < end {
          let written = UnsafeRawBufferPointer(rebasing: rest[0].prefix(Int(end - offset)))
          state.sums.add(written, at: offset)
          offset += Int64(written.count)
          rest[0] = UnsafeRawBufferPointer(rebasing: rest[0].dropFirst(written.count))
          if rest[0].isEmpty { rest.removeFirst() }
        }
        try publish(end - count..<end, &state)
      }
    }
  }

  /// Gives the room back to the disk that bytes have taken which count for nothing: a piece that was not written
  /// wholly, or what is not as it was written. A full disk would lack it when they come again.
  package func giveBack(_ range: Range<Int64>) { giveBack(range, besides: present) }

  /// The same of what had been shown as there. Not of a whole file while anybody has it open to read (`EpisodeReader`): he,
  /// or the kernel for him, may read it without a look at the live map, and would find zeros beside the one wrong byte.
  func giveBackShown(
    _ ranges: [Range<Int64>], of all: ByteRanges, _ representation: Representation,
    besides present: ByteRanges
  ) {
    let isWhole = representation.total.map { all.contains(0..<$0) } ?? false
    guard !isWhole || data.tryLock(.exclusive) else { return }
    defer { if isWhole { data.unlock() } }
    for range in ranges { giveBack(range, besides: present) }
  }

  private func giveBack(_ range: Range<Int64>, besides present: ByteRanges) {
    let block = LiveMap.blockSize
    for hole in present.missing(in: range) {
      let (first, end) = ((hole.lowerBound + block - 1) / block * block, hole.upperBound / block * block)
      if first < end { data.punchHole(first..<end) }
    }
  }

  /// Shows a range in the live map: its blocks that are whole by now, and the beginning of the last one.
  func publish(_ range: Range<Int64>, _ state: inout State) throws(PosixError) {
    let block = LiveMap.blockSize
    guard let run = state.present.run(at: range.lowerBound) else { return }
    let total = state.representation.total
    state.isMapFull = true
    try map.reserve(upTo: max(run.upperBound, total ?? 0), isAll: total.map { $0 >= run.upperBound } ?? false)
    state.isMapFull = false
    // Blocks that `range` touches and `run` holds whole.
    let first = max(range.lowerBound / block, (run.lowerBound + block - 1) / block)
    let end =
      run.upperBound == total
      ? (run.upperBound + block - 1) / block
      : min((range.upperBound + block - 1) / block, run.upperBound / block)
    if first < end { map.add(blocks: first..<end) }
    if run.upperBound != total, run.upperBound / block * block >= run.lowerBound, run.upperBound % block > 0 {
      map.add(edge: run.upperBound)
    }
    map.set(received: state.present.count)
  }

  /// How many of `bytes`, which must be stored at `offset`, are the same as the stored ones.
  package func agreement(of bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) -> Int {
    // A host that sends only the same beginning again and again makes no progress.
    let further = state.withLock { state in
      guard offset == 0 || offset == state.compared else { return Int64(0) }
      state.compared = offset + Int64(bytes.count)
      defer { state.mostCompared = max(state.mostCompared, state.compared) }
      return max(state.compared - state.mostCompared, 0)
    }
    if further > 0 { map.add(compared: further) }
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
    if state.withLock({ $0.present.isEmpty }) {
      try append([.representation(representation)], synchronized: false)
    }
    try state.withLock { state throws(PosixError) in
      state.representation = representation
      state.isRepresentationNew = !state.present.isEmpty
      if let total = representation.total {
        state.present.truncate(at: total)
        map.set(received: state.present.count)
        // The last block counts from now on, though it is not full.
        if let run = state.present.ranges.last { try publish(run, &state) }
      }
      map.set(total: representation.total)
      if let total = representation.total, Int64(try data.status().st_size) > total {
        try data.truncate(to: total)
      }
    }
  }

  /// Takes the live map's name away: the journal says it all.
  package func removeMap() {
    unlink(layout.map(key, generation))
    unlink(layout.spareMap(key, generation))
  }
}
