internal import Glibc
package import PodcastModel
package import PosixKit

/// The one writer of a generation's bytes: data first, then the live map, then, on another thread, the journal.
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
  private let state: Monitor<State>
  /// Only `synchronize` and `set(_:)` append, one at a time.
  private let journal: Monitor<RangeJournal>
  private let data: FileDescriptor
  private let map: LiveMap
  private let layout: CacheLayout

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
        try RangeJournal(
          creating: layout.journal(key, generation), [.identity(nonce), .representation(representation)]))
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
    data = try layout.openData(key, generation, O_RDWR | CacheLayout.keepsAccessTime)
    let size = Int64(try data.status().st_size)
    let path = layout.journal(key, generation)
    var known = RangeJournal(reading: path)
    if isWhole && known.representation?.total != size {
      // The name says that all is here; the journal is lost.
      let whole = Representation(total: size)
      known = try RangeJournal(
        creating: path, [.identity(.random(in: 1 ... .max)), .representation(whole), .range(0..<size)])
    }
    guard var representation = known.representation else { throw PosixError(.ENOENT, "continue", path) }
    let nonce = known.identity ?? 0
    let live = isWhole ? nil : LiveMap.open(layout, key, generation, writable: true, nonce: nonce)
    // A total that was learnt a moment before a kill: the map's last block counts by it.
    representation.total = representation.total ?? live?.total
    if live == nil && !isWhole {
      let lost = try GenerationCheck.disagreeing(known.recent, data, known).map { JournalRecord.lost($0) }
      if !lost.isEmpty { try known.append(lost, to: path, synchronized: false) }
    }
    var present = known.durable
    let end = min(representation.total ?? size, size)
    if isWhole { present.insert(0..<size) }
    if let live { present.formUnion(live.present(upTo: end)) }
    present.truncate(at: end)
    try Directories.createPrivate(layout.maps)
    map = try live ?? LiveMap.create(layout, key, generation, nonce: nonce, total: representation.total)
    let sums = RunningChecksums(sums: known.sums)
    journal = Monitor(known)
    state = Monitor(State(representation: representation, present: present, sums: sums, isWhole: isWhole))
    map.set(total: representation.total)
    state.withLock { state in for run in state.present.ranges { publish(run, state) } }
  }

  private var path: String { layout.journal(key, generation) }
  package var representation: Representation { state.withLock { $0.representation } }
  package var present: ByteRanges { state.withLock { $0.present } }

  /// Whether the data file lies under its name, with all that was written: nobody has deleted, replaced or cut it.
  package var isInPlace: Bool {
    state.withLock { state in
      let path = state.isWhole ? layout.whole(key, generation) : layout.part(key, generation)
      guard let own = try? data.status(), let named = CacheLayout.status(of: path) else { return false }
      let (size, end) = (Int64(own.st_size), state.present.end)
      return own.st_dev == named.st_dev && own.st_ino == named.st_ino
        && (end == state.representation.total ? size == end : size >= end)
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

  /// How many of `bytes` are the same as those stored at `offset`.
  package func agreement(of bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) -> Int {
    // On the heap: the disk's threads have small stacks.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    defer { buffer.deallocate() }
    let count = try data.read(into: buffer, at: offset)
    guard let stored = buffer.baseAddress, let new = bytes.baseAddress else { return 0 }
    // An element-wise comparison takes seconds for a megabyte where nothing is optimized.
    return memcmp(stored, new, count) == 0 ? count : zip(buffer[..<count], bytes).prefix { $0 == $1 }.count
  }

  /// Learns more of the representation (its total at the end, a validator); the next `synchronize` writes it
  /// down. Where there are no bytes yet it may be another one: that is written down before any comes, so that
  /// a killed daemon leaves no bytes under another one's validator.
  package func set(_ representation: Representation) throws(PosixError) {
    if let total = representation.total, total > map.capacity { throw PosixError(.EFBIG, "write") }
    if state.withLock({ $0.present.isEmpty }) {
      try journal.withLock { journal throws(PosixError) in
        try journal.append([.representation(representation)], to: path, synchronized: false)
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

  package func removeMap() { unlink(layout.map(key, generation)) }
}

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
      let known = journal
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
      if !facts.isEmpty { try journal.append(facts, to: path) }
      try nameWhole(journal)
    }
  }

  /// Gives a file that is complete, by the journal's word, the name that says so.
  private func nameWhole(_ journal: RangeJournal) throws(PosixError) {
    guard let total = journal.representation?.total, journal.durable.contains(0..<total),
      state.withLock({ !$0.isWhole && $0.representation.total == total }), isInPlace
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
