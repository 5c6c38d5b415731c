internal import Glibc
package import PodcastModel
internal import PosixKit

/// Which bytes of a generation's data file are there, in memory that the daemon writes and every mount reads:
/// a file in the runtime folder, mapped by all.
///
/// A bit stands for a block of 4 KiB. It is set once all of the block has been written, and cleared only where the disk has
/// lost it. So a reader needs no lock, and a writer killed at any instant leaves a map that is right.
package final class LiveMap: Sendable {
  private let memory: SharedMemory

  private enum Word {
    static let magic = 0
    static let boot = 1
    static let nonce = 2
    static let total = 3
    static let received = 4
  }
  private static let magic: UInt64 = 0x3630_7061_6d73_6670  // "pfsmap06"
  private static let unknown = UInt64.max

  package static let blockSize: Int64 = 4096
  private static let headerSize = 4096
  /// The largest file that a map can speak of, and the largest whose size was not known when the map was made.
  package static let largest: Int64 = 32 << 30
  private static let largestUnknown: Int64 = 4 << 30

  private init(_ memory: SharedMemory) { self.memory = memory }

  /// Makes the map of an empty data file, in place of what was there.
  /// - Throws: `PosixError`: ENOMEM where the runtime folder has no room, EFBIG where the file is too large.
  static func create(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, nonce: UInt64, total: Int64?
  ) throws(PosixError) -> LiveMap {
    let path = layout.map(key, generation)
    guard total ?? 0 <= largest else { throw PosixError(.EFBIG, "map", layout.part(key, generation)) }
    let blocks = ((total ?? largestUnknown) + blockSize - 1) / blockSize
    let size = headerSize + max(Int(blocks + 63) / 64, 1) * 8
    unlink(path)
    do throws(PosixError) {
      let file = try FileDescriptor(openingRegular: path, O_RDWR | O_CREAT | O_EXCL)
      // To read or write shared memory that a full tmpfs has no room for kills (SIGBUS).
      try file.allocate(Int64(size))
      let memory = try SharedMemory(file, size: size, writable: true)
      memory.store(Word.boot, bootIdentity)
      memory.store(Word.nonce, nonce)
      let map = LiveMap(memory)
      map.set(total: total)
      // Last: nobody believes it before.
      memory.store(Word.magic, magic)
      return map
    } catch {
      unlink(path)
      let isFull = error.errno == .ENOSPC || error.errno == .EDQUOT
      throw PosixError(isFull ? .ENOMEM : error.errno, "reserve memory in", layout.maps)
    }
  }

  /// The map of a generation that was made since the machine started: only then are the bytes that it claims in the page
  /// cache or on the disk.
  /// - Parameter nonce: the number that the journal has: then the map speaks of the same file. nil for any.
  static func open(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32, writable: Bool, nonce: UInt64?
  ) -> LiveMap? {
    let path = layout.map(key, generation)
    guard let file = try? FileDescriptor(openingRegular: path, writable ? O_RDWR : O_RDONLY),
      let size = try? Int(file.status().st_size), size > headerSize,
      let memory = try? SharedMemory(file, size: size, writable: writable),
      memory.load(Word.magic) == magic, memory.load(Word.boot) == bootIdentity,
      nonce == nil || memory.load(Word.nonce) == nonce
    else { return nil }
    return LiveMap(memory)
  }

  /// How many bytes are there; nil where there is no map.
  package static func received(_ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32) -> Int64? {
    open(layout, key, generation, writable: false, nonce: nil)?.received
  }

  var capacity: Int64 { Int64(memory.bytes.count - Self.headerSize) * 8 * Self.blockSize }

  /// The exact size of the file; nil while it is not known.
  package var total: Int64? {
    let value = memory.load(Word.total)
    return value == Self.unknown ? nil : Int64(clamping: value)
  }

  /// How many bytes are there, to the byte.
  package var received: Int64 { Int64(clamping: memory.load(Word.received)) }

  /// Whether all blocks that `range` touches are there.
  package func contains(_ range: Range<Int64>) -> Bool {
    if range.isEmpty { return true }
    guard range.lowerBound >= 0, range.upperBound <= capacity else { return false }
    return words(of: Self.blocks(touching: range)).allSatisfy { memory.load($0) & $1 == $1 }
  }

  static func blocks(touching range: Range<Int64>) -> Range<Int64> {
    range.lowerBound / blockSize..<(range.upperBound + blockSize - 1) / blockSize
  }

  /// What is there, in whole blocks, as far as `end`.
  func present(upTo end: Int64) -> ByteRanges {
    var present = ByteRanges()
    for word in 0..<(memory.bytes.count - Self.headerSize) / 8 {
      var bits = memory.load(Self.headerSize / 8 + word)
      while bits != 0 {
        let first = bits.trailingZeroBitCount
        let count = (~(bits >> first)).trailingZeroBitCount
        let start = Int64(word * 64 + first) * Self.blockSize
        present.insert(start..<start + Int64(count) * Self.blockSize)
        bits = (bits >> (first + count)) << (first + count)
      }
    }
    present.truncate(at: end)
    return present
  }

  // The writer's side: one thread at a time.

  func set(total: Int64?) { memory.store(Word.total, total.map { UInt64($0) } ?? Self.unknown) }
  func set(received: Int64) { memory.store(Word.received, UInt64(received)) }

  /// Their bytes must have been written.
  func add(blocks: Range<Int64>) {
    for (index, mask) in words(of: blocks) { memory.store(index, memory.load(index) | mask) }
  }

  /// Says that these blocks are not there: the disk has lost them. Readers look again after they have read.
  func remove(blocks: Range<Int64>) {
    for (index, mask) in words(of: blocks) { memory.store(index, memory.load(index) & ~mask) }
  }

  private func words(of blocks: Range<Int64>) -> some Sequence<(Int, UInt64)> {
    let (first, last) = (blocks.lowerBound / 64, (blocks.upperBound - 1) / 64)
    return (first..<(blocks.isEmpty ? first : last + 1)).lazy.map { word in
      let low = Swift.max(blocks.lowerBound - word * 64, 0)
      let high = Swift.min(blocks.upperBound - word * 64, 64)
      let mask = (high - low == 64 ? UInt64.max : (1 << UInt64(high - low)) - 1) << UInt64(low)
      return (Self.headerSize / 8 + Int(word), mask)
    }
  }

  /// Tells one run of the machine from the next: what was only in memory is gone after it.
  private static let bootIdentity: UInt64 = {
    let bytes = (try? Directories.read("/proc/sys/kernel/random/boot_id")) ?? []
    return bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }()
}
