internal import Glibc
package import PodcastModel
package import PosixKit

/// The one writer of a generation's bytes, in the daemon: data first, then the live map, then, from another
/// thread and at leisure, the journal.
package final class EpisodeWriter: Sendable {
  package let key: MediaKey
  package let generation: UInt32

  private struct State: ~Copyable {
    var representation: Representation
    /// Whether the journal does not have it yet.
    var isRepresentationNew = false
    var present: ByteRanges
    var durable: ByteRanges
    /// What someone waits for; see `setWanted`.
    var wanted: [Range<Int64>] = []
    /// Bytes written since the last synchronization began, or was claimed.
    var unsynchronized: Int64 = 0
    /// Bits of the map up to this byte have room in its file.
    var mapReserved: Int64 = 0
  }
  private let state: Monitor<State>
  /// Only `synchronize` and `set(_:)` append, one at a time.
  private let journal: Monitor<RangeJournalWriter>
  private let data: FileDescriptor
  private let map: LiveMap
  private let layout: CacheLayout

  /// Begins a generation with no bytes.
  /// - Throws: `PosixError`: EEXIST where it had begun before.
  package init(
    creating layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, _ representation: Representation
  ) throws {
    try layout.create()
    self.key = key
    self.generation = generation
    self.layout = layout
    data = try FileDescriptor(opening: layout.data(key, generation), O_RDWR | O_CREAT | O_EXCL)
    map = try LiveMap.create(layout.map(key, generation), data: data)
    unlink(layout.journal(key, generation))
    var writer = try RangeJournalWriter(continuing: layout.journal(key, generation), RangeJournal())
    try writer.append([.representation(representation)], synchronized: false)
    journal = Monitor(writer)
    map.set(total: representation.total)
    state = Monitor(State(representation: representation, present: ByteRanges(), durable: ByteRanges()))
  }

  /// Goes on with a generation: what its journal says, and what the live map says where it is of this run of
  /// the machine, so that a killed daemon loses nothing.
  /// - Throws: `PosixError`: ENOENT where the data or a journal that says what it is of is not there.
  package init(continuing layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) throws {
    self.key = key
    self.generation = generation
    self.layout = layout
    let path = layout.data(key, generation)
    data = try FileDescriptor(opening: path, O_RDWR)
    let kept = RangeJournal(reading: layout.journal(key, generation))
    guard let representation = kept.representation else { throw PosixError(.ENOENT, "continue", path) }
    journal = Monitor(try RangeJournalWriter(continuing: layout.journal(key, generation), kept))
    let size = Int64(try data.status().st_size)
    var present = kept.durable
    present.truncate(at: size)
    let durable = present
    if let live = LiveMap.open(layout.map(key, generation), data: data, writable: true) {
      map = live
      let end = representation.total ?? size
      let blocks = (end + LiveMap.blockSize - 1) / LiveMap.blockSize
      live.blocks().forEach(upTo: min(blocks, LiveMap.capacity / LiveMap.blockSize)) { run in
        present.insert(run.lowerBound * LiveMap.blockSize..<min(run.upperBound * LiveMap.blockSize, end))
      }
      present.truncate(at: size)
    } else {
      try Directories.createPrivate(layout.maps)
      map = try LiveMap.create(layout.map(key, generation), data: data)
    }
    state = Monitor(State(representation: representation, present: present, durable: durable))
    map.set(total: representation.total)
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

  /// Whether the data file still has its name: nobody has deleted the cache.
  package var isLinked: Bool { ((try? data.status().st_nlink) ?? 0) > 0 }

  /// Writes bytes to their place, then shows them to the readers.
  /// - Returns: whether all of a wanted range is there now that was not before.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) -> Bool {
    guard !bytes.isEmpty else { return false }
    guard offset <= LiveMap.capacity - Int64(bytes.count) else { throw PosixError(.EFBIG, "write") }
    let range = offset..<offset + Int64(bytes.count)
    try data.write(bytes, at: offset)
    return try state.withLock { state throws(PosixError) in
      state.present.insert(range)
      state.unsynchronized += Int64(range.count)
      try publish(range, &state)
      let size = state.representation.total ?? .max
      return state.wanted.contains { $0.overlaps(range) && map.contains($0.clamped(to: 0..<size)) }
    }
  }

  /// Shows a range in the live map: its blocks that are whole by now.
  private func publish(_ range: Range<Int64>, _ state: inout State) throws(PosixError) {
    let block = LiveMap.blockSize
    guard let run = state.present.run(at: range.lowerBound) else { return }
    if run.upperBound > state.mapReserved {
      let size = max(run.upperBound, state.representation.total ?? 0, state.mapReserved + 128 << 20)
      try map.reserve(upTo: size)
      state.mapReserved = size
    }
    // Blocks that `range` touches and `run` holds whole.
    let first = max(range.lowerBound / block, (run.lowerBound + block - 1) / block)
    let end =
      run.upperBound == state.representation.total
      ? (run.upperBound + block - 1) / block
      : min((range.upperBound + block - 1) / block, run.upperBound / block)
    if first < end { map.add(blocks: first..<end) }
    map.set(received: state.present.count)
  }

  /// What is waited for: `write` tells when one of these is all there.
  package func setWanted(_ ranges: [Range<Int64>]) { state.withLock { $0.wanted = ranges } }

  /// What is stored at `offset` or next behind it; nil where nothing is.
  package func stored(from offset: Int64) -> Range<Int64>? {
    state.withLock { $0.present.run(at: offset) ?? $0.present.run(from: offset) }
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
    if state.withLock({ $0.present.isEmpty }) {
      try journal.withLock { journal throws(PosixError) in
        try journal.append([.representation(representation)], synchronized: false)
      }
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
    }
  }

  /// Whether more than `count` bytes have been written since the last synchronization; says so once.
  package func claimSynchronization(after count: Int64) -> Bool {
    state.withLock { state in
      guard state.unsynchronized > count else { return false }
      state.unsynchronized = 0
      return true
    }
  }

  /// Brings what is written to the disk, then tells the journal. Waits for the disk.
  package func synchronize() throws(PosixError) {
    try journal.withLock { journal throws(PosixError) in
      let (present, representation) = state.withLock { state in
        state.unsynchronized = 0
        return (state.present, state.isRepresentationNew ? state.representation : nil)
      }
      let durable = state.withLock { $0.durable }
      let news = present.ranges.filter { !durable.contains($0) }
      if news.isEmpty && representation == nil { return }
      if !news.isEmpty { try data.synchronize() }
      let facts: [JournalRecord] = representation.map { [.representation($0)] } ?? []
      try journal.append(facts + news.map { .range($0) })
      state.withLock { state in
        state.durable = present
        if state.representation == representation { state.isRepresentationNew = false }
      }
    }
  }

  /// Whether the live map shows readers all of `range` that the file has.
  package func shows(_ range: Range<Int64>) -> Bool {
    map.contains(range.clamped(to: 0..<(map.total ?? .max)))
  }

  /// Takes the live map's name away: the journal says it all.
  package func removeMap() { unlink(layout.map(key, generation)) }

  /// Takes the generation's names away; readers keep what they have open.
  package func remove() { layout.remove(key, generation) }
}
