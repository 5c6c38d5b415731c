internal import Glibc
package import PodcastModel
internal import PosixKit

/// Which bytes of a generation's data file are there, in memory that the daemon writes and every mount reads:
/// a file in the runtime folder, mapped by all.
///
/// A bit stands for a block of 4 KiB and is set once all of the block that the file will ever hold has been
/// written to it, and cleared only where the disk has lost it: so a reader needs no lock and can't see a half-made
/// change, and a writer killed at any instant leaves a map that is right. (A list of exact ranges would need a
/// sequence lock, which a killed writer leaves taken, and a bound on their number.) Of blocks that are not whole it
/// says of the few latest how far they reach from their start, each in one word: a reader on a slow host need not
/// wait for the rest of its block.
package final class LiveMap: Sendable {
  private let memory: SharedMemory
  /// The writer's hold on the file, to take room in it also when it has lost its name; nil for readers, and where
  /// it has all the room that it will ever need.
  private let file: Monitor<FileDescriptor?>

  /// Words of the header.
  private enum Word {
    static let magic = 0
    static let boot = 1
    /// A number by chance, which the journal beside the data has too.
    static let nonce = 2
    static let total = 3
    static let received = 4
    /// Bytes of the bitmap that there is room for: the others are not looked at. (Reading memory that a full
    /// tmpfs has no room for kills: SIGBUS.)
    static let reserved = 5
    /// Bytes that came again and were compared, each once between two writes.
    static let compared = 6
    /// So many words: an offset says that all is there from its block's start up to it. Of two blocks that share a
    /// word it speaks of the latter only.
    static let edges = 16..<32
  }
  private static let magic: UInt64 = 0x3330_7061_6d73_6670  // "pfsmap03"
  private static let unknown = UInt64.max

  package static let blockSize: Int64 = 4096
  private static let headerSize = 4096
  private static let bitmapSize = 1 << 20
  private static let pageSize = 4096
  /// What is mapped; the file has a beginning of it.
  static let fullSize = headerSize + bitmapSize

  /// Bytes that any map takes.
  static let leastSize = Int64(headerSize + pageSize)

  /// The largest file that a map can speak of: 32 GiB.
  package static let capacity = Int64(bitmapSize) * 8 * blockSize

  private init(memory: SharedMemory, file: consuming sending FileDescriptor?) {
    self.memory = memory
    self.file = Monitor(file)
  }

  /// Makes the map of an empty data file, in place of what was there: in the runtime folder, and where that has no room
  /// in the cache.
  /// - Parameters:
  ///   - nonce: the number that the journal has.
  ///   - total: bytes of the file, where they are known: there is room for all of them then.
  /// - Throws: `PosixError`: ENOSPC where there is no room in the cache either.
  static func create(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, nonce: UInt64, total: Int64?
  ) throws(PosixError) -> (map: LiveMap, isSpare: Bool) {
    let (path, spare) = (layout.map(key, generation), layout.spareMap(key, generation))
    unlink(spare)
    do throws(PosixError) {
      return (try create(path, nonce: nonce, total: total), false)
    } catch {
      guard error.errno == .ENOSPC || error.errno == .EDQUOT else { throw error }
      unlink(path)
      return (try create(spare, nonce: nonce, total: total), true)
    }
  }

  private static func create(_ path: String, nonce: UInt64, total: Int64?) throws(PosixError) -> LiveMap {
    let temporary = path + CacheLayout.unfinished
    unlink(temporary)
    let file = try FileDescriptor(openingRegular: temporary, O_RDWR | O_CREAT | O_EXCL)
    do throws(PosixError) {
      // The first part of the bitmap is for 128 MiB.
      try file.allocate(leastSize)
      let memory = try SharedMemory(file, size: fullSize, writable: true)
      memory.store(Word.boot, bootIdentity)
      memory.store(Word.nonce, nonce)
      memory.store(Word.total, unknown)
      memory.store(Word.received, 0)
      memory.store(Word.reserved, UInt64(pageSize))
      memory.store(Word.magic, magic)
      let map = LiveMap(memory: memory, file: file)
      if let total { try map.reserve(upTo: min(total, capacity), isAll: false) }
      try retrying("create", path) { rename(temporary, path) }
      return map
    } catch {
      unlink(temporary)
      throw PosixError(error.errno, "create", path)
    }
  }

  /// The map of a generation that was made since the machine started: only then are the bytes that it claims in the page
  /// cache or on the disk.
  /// - Parameter nonce: the number that the journal has: then the map speaks of the same file. nil where the daemon that
  ///   writes the map has just said that it is good.
  static func open(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, writable: Bool, nonce: UInt64?
  ) -> LiveMap? {
    open(layout.map(key, generation), writable: writable, nonce: nonce)
      ?? open(layout.spareMap(key, generation), writable: writable, nonce: nonce)
  }

  private static func open(_ path: String, writable: Bool, nonce: UInt64?) -> LiveMap? {
    guard let file = try? FileDescriptor(openingRegular: path, writable ? O_RDWR : O_RDONLY),
      let status = try? file.status(), status.st_size >= leastSize,
      let memory = try? SharedMemory(file, size: fullSize, writable: writable),
      memory.load(Word.magic) == magic, memory.load(Word.boot) == bootIdentity,
      nonce == nil || memory.load(Word.nonce) == nonce,
      memory.load(Word.reserved) <= UInt64(Int(status.st_size) - headerSize)
    else { return nil }
    if writable { return LiveMap(memory: memory, file: file) }
    return LiveMap(memory: memory, file: nil)
  }

  /// How many bytes a generation's map says are there; nil where there is no map.
  package static func received(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32
  ) -> Int64? {
    words(layout, key, generation).map { Int64(clamping: $0[Word.received]) }
  }

  /// How many bytes came, and how many of the stored ones came again. It grows while the host gets further; the same
  /// beginning sent again and again counts once.
  package static func progress(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32
  ) -> Int64? {
    words(layout, key, generation).map { Int64(clamping: $0[Word.received] &+ $0[Word.compared]) }
  }

  private static func words(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32
  ) -> [UInt64]? {
    words(at: layout.map(key, generation)) ?? words(at: layout.spareMap(key, generation))
  }

  /// The header of a map of this run of the machine; nil where there is none.
  static func words(at path: String) -> [UInt64]? {
    guard let file = try? FileDescriptor(openingRegular: path, O_RDONLY) else { return nil }
    var words = [UInt64](repeating: 0, count: Word.compared + 1)
    let count = words.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) }
    guard count == words.count * 8, words[Word.magic] == magic, words[Word.boot] == bootIdentity else {
      return nil
    }
    return words
  }

  /// Takes room in the map's file for the bits of the first `size` bytes.
  /// - Parameter isAll: whether no more will ever be needed.
  func reserve(upTo size: Int64, isAll: Bool) throws(PosixError) {
    let bits = Self.blockSize * 8
    let wanted = min((size + bits - 1) / bits, Int64(Self.bitmapSize))
    let page = Int64(Self.pageSize)
    let bytes = (wanted + page - 1) / page * page
    try file.withLock { file throws(PosixError) in
      if bytes > Int64(memory.load(Word.reserved)) {
        guard file != nil else { throw PosixError(.ENOSPC, "reserve room") }
        try file?.allocate(Int64(Self.headerSize) + bytes)
        memory.store(Word.reserved, UInt64(bytes))
      }
      if isAll { file = nil }
    }
  }

  /// The word of the bitmap behind the last one that there is room for.
  private var reservedWords: Int {
    (Self.headerSize + min(Int(clamping: memory.load(Word.reserved)), Self.bitmapSize)) / 8
  }

  /// The exact size of the file; nil while it is not known.
  package var total: Int64? {
    let value = memory.load(Word.total)
    return value == Self.unknown ? nil : Int64(clamping: value)
  }

  /// How many bytes are there, to the byte.
  package var received: Int64 { Int64(clamping: memory.load(Word.received)) }

  /// The same, and those that have come again.
  var progress: Int64 { Int64(clamping: memory.load(Word.received) &+ memory.load(Word.compared)) }

  /// Whether all bytes of `range` are there: each block that it touches, or of the last one as far as it reaches.
  package func contains(_ range: Range<Int64>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= Self.capacity else { return false }
    if range.isEmpty { return true }
    let last = (range.upperBound - 1) / Self.blockSize
    if let edge = edge(ofBlock: last), edge >= range.upperBound {
      return containsBlocks(of: range.lowerBound..<max(last * Self.blockSize, range.lowerBound))
    }
    return containsBlocks(of: range)
  }

  private func containsBlocks(of range: Range<Int64>) -> Bool {
    if range.isEmpty { return true }
    let end = reservedWords
    return words(of: range.lowerBound / Self.blockSize..<(range.upperBound - 1) / Self.blockSize + 1)
      .allSatisfy { index, mask in index < end && memory.load(index) & mask == mask }
  }

  /// How far a block that is not whole is there from its start, in bytes of the file; nil where that is not known.
  func edge(ofBlock block: Int64) -> Int64? {
    let edge = Int64(clamping: memory.load(Self.edgeWord(of: block)))
    return edge > block * Self.blockSize && edge < (block + 1) * Self.blockSize ? edge : nil
  }

  /// What is there of blocks that are not whole, as far as is known.
  var edges: [Range<Int64>] {
    Word.edges.compactMap { word in
      let edge = Int64(clamping: memory.load(word))
      let start = edge / Self.blockSize * Self.blockSize
      return edge > start && edge < Self.capacity ? start..<edge : nil
    }
  }

  private static func edgeWord(of block: Int64) -> Int {
    Word.edges.lowerBound + Int(block % Int64(Word.edges.count))
  }

  /// Blocks that there is room for.
  var reservedBlocks: Int64 { Int64(reservedWords - Self.headerSize / 8) * 64 }

  /// All that is there, in whole blocks; the last one ends at `total`.
  func blocks() -> LiveMapBlocks { LiveMapBlocks(memory: memory, header: Self.headerSize) }

  // The writer's side: one thread at a time.

  func set(total: Int64?) { memory.store(Word.total, total.map { UInt64($0) } ?? Self.unknown) }

  func set(received: Int64) { memory.store(Word.received, UInt64(received)) }

  func add(compared count: Int64) {
    memory.store(Word.compared, memory.load(Word.compared) &+ UInt64(count))
  }

  /// Says that these blocks are there. Their bytes must have been written, and room reserved.
  func add(blocks: Range<Int64>) {
    for (index, mask) in words(of: blocks) { memory.store(index, memory.load(index) | mask) }
  }

  /// Says that all is there from its block's start up to `edge`. Its bytes must have been written.
  func add(edge: Int64) { memory.store(Self.edgeWord(of: edge / Self.blockSize), UInt64(edge)) }

  /// Says that these blocks are not there: the disk has lost them. Readers look again after they have read.
  func remove(blocks: Range<Int64>) {
    for edge in edges where blocks.contains(edge.lowerBound / Self.blockSize) {
      memory.store(Self.edgeWord(of: edge.lowerBound / Self.blockSize), 0)
    }
    let end = reservedWords
    for (index, mask) in words(of: blocks) where index < end {
      memory.store(index, memory.load(index) & ~mask)
    }
  }

  /// The words and bits that stand for `blocks`.
  private func words(of blocks: Range<Int64>) -> some Sequence<(Int, UInt64)> {
    let header = Self.headerSize / 8
    let (first, last) = (blocks.lowerBound / 64, (blocks.upperBound - 1) / 64)
    return (first..<(blocks.isEmpty ? first : last + 1)).lazy.map { word in
      let low = Swift.max(blocks.lowerBound - word * 64, 0)
      let high = Swift.min(blocks.upperBound - word * 64, 64)
      let mask = (high - low == 64 ? UInt64.max : (1 << UInt64(high - low)) - 1) << UInt64(low)
      return (header + Int(word), mask)
    }
  }

  /// Tells one run of the machine from the next: what was only in memory is gone after it.
  private static let bootIdentity: UInt64 = {
    let bytes = (try? Directories.read("/proc/sys/kernel/random/boot_id")) ?? []
    return bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }()
}
