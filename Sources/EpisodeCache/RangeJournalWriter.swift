internal import Glibc
internal import PodcastModel
internal import PosixKit

/// Appends to a journal. Keeps no file open: of a thousand queued downloads few are written to.
struct RangeJournalWriter: ~Copyable {
  private let path: String
  /// What the file says.
  private(set) var journal: RangeJournal
  private var device: UInt64
  private var inode: UInt64
  /// Whether what the file holds is not known, or far more than it says: it is written anew.
  private var isToBeRewritten = false

  /// A journal beyond this many bytes is written anew where it could have a quarter of them.
  private static let longest = 64 << 10

  /// Begins a journal in place of what `path` held.
  init(creating path: String, _ records: [JournalRecord]) throws(PosixError) {
    unlink(path)
    let file = try FileDescriptor(openingRegular: path, O_WRONLY | O_CREAT | O_EXCL)
    let bytes = records.flatMap(\.encoded)
    try file.write(bytes, at: 0)
    var journal = RangeJournal()
    for record in records { journal.apply(record) }
    journal.length = Int64(bytes.count)
    let identity = try Self.identity(of: file)
    self.journal = journal
    self.path = path
    (device, inode) = identity
  }

  /// Goes on with the journal at `path`, which says `journal`, behind its last whole record.
  init(continuing path: String, _ journal: RangeJournal) throws(PosixError) {
    let file = try FileDescriptor(openingRegular: path, O_WRONLY)
    try file.truncate(to: journal.length)
    let identity = try Self.identity(of: file)
    (device, inode) = identity
    self.path = path
    self.journal = journal
    isToBeRewritten =
      journal.length > Self.longest
      && journal.length > 4 * Int64(journal.records.reduce(0) { $0 + $1.encoded.count })
  }

  /// Appends `records` in one write. `synchronized`: waits until they and all before are on the disk; what
  /// claims no bytes need not. Where the journal has lost its name nothing is to be told.
  /// - Parameter announce: hears how long the journal will be, before it is.
  mutating func append(
    _ records: [JournalRecord], synchronized: Bool = true, announce: (Int64) -> Void
  ) throws(PosixError) {
    var next = journal
    for record in records { next.apply(record) }
    if isToBeRewritten { return try rewrite(next, announce: announce) }
    guard let file = try open() else { return }
    // Somebody has cut it.
    if try file.status().st_size < off_t(journal.length) { return try rewrite(next, announce: announce) }
    let bytes = records.flatMap(\.encoded)
    next.length += Int64(bytes.count)
    announce(next.length)
    // Of a write or flush that failed the disk may have anything, and the next flush succeeds.
    isToBeRewritten = true
    // At a position of our own: what a killed program left behind its last whole record is overwritten.
    try file.write(bytes, at: journal.length)
    if synchronized { try file.synchronize() }
    isToBeRewritten = false
    journal = next
  }

  /// The file, while it is the one that was there; nil where it was deleted, or another one is in its place.
  private func open() throws(PosixError) -> FileDescriptor? {
    let file: FileDescriptor
    do throws(PosixError) {
      file = try FileDescriptor(openingRegular: path, O_WRONLY)
    } catch {
      if error.errno == .ENOENT { return nil }
      throw error
    }
    guard try Self.identity(of: file) == (device, inode) else { return nil }
    return file
  }

  private mutating func rewrite(_ next: RangeJournal, announce: (Int64) -> Void) throws(PosixError) {
    guard try open() != nil else { return }
    let temporary = path + CacheLayout.unfinished
    let bytes = next.records.flatMap(\.encoded)
    announce(Int64(bytes.count))
    do throws(PosixError) {
      unlink(temporary)
      let file = try FileDescriptor(openingRegular: temporary, O_WRONLY | O_CREAT | O_EXCL)
      try file.write(bytes, at: 0)
      try file.synchronize()
      let (device, inode) = try Self.identity(of: file)
      try retrying("replace", path) { rename(temporary, path) }
      (self.device, self.inode) = (device, inode)
    } catch {
      unlink(temporary)
      throw error
    }
    journal = next
    journal.length = Int64(bytes.count)
    isToBeRewritten = false
  }

  private static func identity(of file: borrowing FileDescriptor) throws(PosixError) -> (UInt64, UInt64) {
    let status = try file.status()
    return (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
