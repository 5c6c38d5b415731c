internal import Glibc
package import PodcastModel
internal import PosixKit

/// Which bytes of a generation's data file are there, in memory that the daemon writes and every mount reads:
/// a file in the runtime folder, mapped by all.
///
/// A bit stands for a block of 4 KiB and is set once all of the block that the file will ever hold has been
/// written to it, and never cleared: so a reader needs no lock and can't see a half-made change, and a writer
/// killed at any instant leaves a map that is right. (A list of exact ranges would need a sequence lock,
/// which a killed writer leaves taken, and a bound on their number.) What is not exact is only the block at a
/// range's edge.
package final class LiveMap: Sendable {
  private let memory: SharedMemory
  /// The writer's hold on the file, to take room in it also when it has lost its name.
  private let file: FileDescriptor?

  /// Words of the header.
  private enum Word {
    static let magic = 0
    static let boot = 1
    static let device = 2
    static let inode = 3
    static let total = 4
    static let received = 5
  }
  private static let magic: UInt64 = 0x3130_7061_6d73_6670  // "pfsmap01"
  private static let unknown = UInt64.max

  package static let blockSize: Int64 = 4096
  private static let headerSize = 4096
  private static let bitmapSize = 1 << 20
  static let fileSize = headerSize + bitmapSize

  /// The largest file that a map can speak of: 32 GiB.
  package static let capacity = Int64(bitmapSize) * 8 * blockSize

  private init(memory: SharedMemory, file: consuming FileDescriptor?) {
    self.memory = memory
    self.file = file
  }

  /// Makes the map of an empty data file, in place of what `path` held.
  static func create(_ path: String, data: borrowing FileDescriptor) throws(PosixError) -> LiveMap {
    let temporary = "\(path).new"
    unlink(temporary)
    let file = try FileDescriptor(opening: temporary, O_RDWR | O_CREAT | O_EXCL)
    // Sparse: room is taken as blocks come (`reserve`).
    try file.truncate(to: Int64(fileSize))
    try file.allocate(Int64(headerSize))
    let memory = try SharedMemory(file, size: fileSize, writable: true)
    let status = try data.status()
    memory.store(Word.boot, bootIdentity)
    memory.store(Word.device, UInt64(status.st_dev))
    memory.store(Word.inode, UInt64(status.st_ino))
    memory.store(Word.total, unknown)
    memory.store(Word.received, 0)
    memory.store(Word.magic, magic)
    try retrying("create", path) { rename(temporary, path) }
    return LiveMap(memory: memory, file: file)
  }

  /// The map at `path`, where it speaks of this data file and was written since the machine started: only
  /// then are the bytes that it claims in the page cache or on the disk.
  static func open(_ path: String, data: borrowing FileDescriptor, writable: Bool) -> LiveMap? {
    guard let file = try? FileDescriptor(opening: path, writable ? O_RDWR : O_RDONLY),
      let status = try? file.status(), status.st_size == fileSize, let of = try? data.status(),
      let memory = try? SharedMemory(file, size: fileSize, writable: writable),
      memory.load(Word.magic) == magic, memory.load(Word.boot) == bootIdentity,
      memory.load(Word.device) == UInt64(of.st_dev), memory.load(Word.inode) == UInt64(of.st_ino)
    else { return nil }
    if writable { return LiveMap(memory: memory, file: file) }
    return LiveMap(memory: memory, file: nil)
  }

  /// How many bytes a generation's map says are there; nil where there is no map.
  package static func received(
    _ layout: CacheLayout, _ key: MediaKey, _ generation: UInt32
  ) -> Int64? {
    guard let file = try? FileDescriptor(opening: layout.map(key, generation), O_RDONLY) else { return nil }
    var words: [UInt64] = [0, 0, 0, 0, 0, 0]
    let count = words.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) }
    guard count == 48, words[Word.magic] == magic, words[Word.boot] == bootIdentity else { return nil }
    return Int64(clamping: words[Word.received])
  }

  /// Takes room in the map's file for the bits of the first `size` bytes.
  func reserve(upTo size: Int64) throws(PosixError) {
    let bits = Self.blockSize * 8
    try file?.allocate(Int64(Self.headerSize) + min((size + bits - 1) / bits, Int64(Self.bitmapSize)))
  }

  /// The exact size of the file; nil while it is not known.
  package var total: Int64? {
    let value = memory.load(Word.total)
    return value == Self.unknown ? nil : Int64(clamping: value)
  }

  /// How many bytes are there, to the byte.
  package var received: Int64 { Int64(clamping: memory.load(Word.received)) }

  /// Whether all bytes of `range` are there: each block that it touches.
  package func contains(_ range: Range<Int64>) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= Self.capacity else { return false }
    if range.isEmpty { return true }
    return words(of: range.lowerBound / Self.blockSize..<(range.upperBound - 1) / Self.blockSize + 1)
      .allSatisfy { index, mask in memory.load(index) & mask == mask }
  }

  /// All that is there, in whole blocks; the last one ends at `total`.
  func blocks() -> LiveMapBlocks { LiveMapBlocks(memory: memory, header: Self.headerSize) }

  // The writer's side: one thread at a time.

  func set(total: Int64?) { memory.store(Word.total, total.map { UInt64($0) } ?? Self.unknown) }

  func set(received: Int64) { memory.store(Word.received, UInt64(received)) }

  /// Says that these blocks are there. Their bytes must have been written.
  func add(blocks: Range<Int64>) {
    for (index, mask) in words(of: blocks) { memory.store(index, memory.load(index) | mask) }
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
