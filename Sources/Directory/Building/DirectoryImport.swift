internal import Glibc
internal import PodcastModel
package import PosixKit

/// Makes the directory of a dump: unpacks it, has it read in a confined process, writes the new file beside the old one,
/// and puts it in its place in one step.
package struct DirectoryImport {
  package enum Stage: Hashable, Sendable {
    /// Another import is under way.
    case waiting
    /// Bytes of the dump, and of the whole where that is known.
    case unpacking(Int64, of: Int64?)
    /// The database is being checked.
    case checking
    /// Podcasts.
    case reading(Int)
    case writing(Int, of: Int)
  }

  /// A disk has too little room.
  package struct NoRoom: Error, Hashable, Sendable {
    package var folder: String
    /// Bytes that are needed for some minutes, those that are free, and those of them that are to stay free.
    package var needed: Int64
    package var free: Int64
    package var reserved: Int64
  }

  let place: DirectoryPlace
  /// A program that calls `DumpWorker` for its argument.
  let program: String
  /// Bytes that are to stay free on the disk.
  let minimumFree: Int64
  let now: Int64
  let progress: (Stage) -> Void

  package init(
    place: DirectoryPlace, program: String, minimumFree: Int64, now: Int64 = wallClockSeconds(),
    progress: @escaping (Stage) -> Void = { _ in }
  ) {
    (self.place, self.program, self.minimumFree, self.now) = (place, program, minimumFree, now)
    self.progress = progress
  }

  /// Imports what `source` holds: a file, or a pipe.
  /// - Parameters:
  ///   - name: of the file or its address, to be kept.
  ///   - identity: see `DirectoryFacts`. With one, it waits for an import that is under way, and has nothing to do where that
  ///     has installed the same.
  /// - Throws: `DirectoryError`, `NoRoom`, `PosixError` or `DatabaseError`; the directory that was there stays.
  package func run(_ source: borrowing FileDescriptor, name: String, identity: String? = nil) throws
    -> DirectoryFacts
  {
    try Directories.create(place.folder)
    let lock = try FileDescriptor(opening: place.lock, O_RDWR | O_CREAT)
    var hasWaited = false
    while !lock.tryLock(.exclusive) {
      if identity == nil { throw DirectoryError(.EBUSY, "another import is under way") }
      hasWaited = true
      progress(.waiting)
      usleep(100_000)
    }
    // A child process that another thread starts now may inherit the descriptor, so that closing it would not be enough.
    defer { lock.unlock() }
    if hasWaited, let facts = try? PodcastDirectory(place: place).facts(), facts.identity == identity {
      return facts
    }
    Self.running.withLock { $0 = true }
    defer {
      Self.removeLeftovers(place)
      Self.running.withLock { $0 = false }
    }
    Self.removeLeftovers(place)
    var facts = DirectoryFacts()
    (facts.source, facts.identity) = (name, identity)
    let builder: DirectoryBuilder
    if let size = try plainDatabase(source) {
      try checkRoom(size, isUnpacked: true)
      builder = try read(source, &facts)
    } else {
      try Directories.create(place.cache)
      let unpacked = try FileDescriptor(opening: place.unpacked, O_RDWR | O_CREAT | O_TRUNC)
      try unpack(source, to: unpacked)
      builder = try read(unpacked, &facts)
      // Makes room for the new file.
      try unpacked.truncate(to: 0)
    }
    try builder.finish(facts) { progress(.writing($0, of: builder.count)) }
    try swap()
    return try PodcastDirectory(place: place).facts()
  }

  /// The size of a source that is a database as it is, in a file; nil for any other.
  private func plainDatabase(_ source: borrowing FileDescriptor) throws -> Int64? {
    let status = try source.status()
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    var head = [UInt8](repeating: 0, count: DumpUnpacker.signature.count)
    let count = try head.withUnsafeMutableBytes { try source.read(into: $0, at: 0) }
    guard count == head.count, head == DumpUnpacker.signature else { return nil }
    return Int64(status.st_size)
  }

  private func unpack(_ source: borrowing FileDescriptor, to target: borrowing FileDescriptor) throws {
    let status = try source.status()
    let total = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    try DumpUnpacker(
      checkRoom: { size in try checkRoom(size, isUnpacked: false) },
      progress: { packed, _ in progress(.unpacking(packed, of: total)) }
    ).unpack(source, to: target)
  }

  /// Bytes that the new directory and its temporary files take for each byte of the unpacked dump.
  private static let share = 0.4

  /// - Throws: `NoRoom`.
  private func checkRoom(_ size: Int64, isUnpacked: Bool) throws {
    let result = Int64(Double(size) * Self.share)
    var needs = [(place.folder, result)]
    if !isUnpacked { needs.append((place.cache, size)) }
    if needs.count == 2, Self.device(place.folder) == Self.device(place.cache) {
      needs = [(place.cache, size + result)]
    }
    for (folder, needed) in needs {
      guard let free = DiskSpace.available(at: folder), free - minimumFree < needed else { continue }
      throw NoRoom(folder: folder, needed: needed, free: free, reserved: minimumFree)
    }
  }

  /// Bytes that an archive, its unpacked dump and the new directory take together, for each byte of the archive.
  private static let expansion = 4.5

  /// Checks, before an archive is downloaded, whether it can be imported.
  /// - Parameters:
  ///   - size: of the archive.
  ///   - received: bytes of it that have come.
  /// - Throws: `NoRoom`.
  package static func checkRoom(
    forArchive size: Int64, received: Int64, at place: DirectoryPlace, minimumFree: Int64
  ) throws {
    let needed = Int64(Double(size) * expansion) - received
    guard let free = DiskSpace.available(at: place.cache), free - minimumFree < needed else { return }
    throw NoRoom(folder: place.cache, needed: needed, free: free, reserved: minimumFree)
  }

  private static func device(_ path: String) -> dev_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_dev : nil
  }

  private func read(
    _ database: borrowing FileDescriptor, _ facts: inout DirectoryFacts
  ) throws -> DirectoryBuilder {
    progress(.checking)
    let builder = try DirectoryBuilder(path: place.new, waiting: place.waiting, now: now)
    facts.refused = try DumpProcess.read(database, by: program) { record in
      try builder.add(record)
      if builder.count % 10_000 == 0 { progress(.reading(builder.count)) }
    }
    if builder.count == 0 { throw DirectoryError.refused("it has no podcast with a title and a feed") }
    return builder
  }

  private func swap() throws {
    try FileDescriptor(openingRegular: place.new, O_RDONLY).synchronize()
    try retrying("protect", place.new) { chmod(place.new, 0o644) }
    try retrying("replace", place.file) { rename(place.new, place.file) }
    try FileDescriptor(opening: place.folder, O_RDONLY).synchronize()
  }

}

// What an import leaves when it ends or is killed: up to some gigabytes.
extension DirectoryImport {
  /// Whether an import of this process is under way.
  private static let running = Monitor(false)

  /// Has an import of this process leave nothing where a signal ends the program. To be called before it has other threads.
  package static func cleansAtEnd(_ place: DirectoryPlace) {
    Signals.blockEnding()
    PosixThread.start("end") {
      let number = Signals.waitForEnding()
      running.withLock { isRunning in
        if isRunning { removeLeftovers(place) }
        Signals.end(by: number)
      }
    }
  }

  /// Removes what an import has left that was killed.
  package static func clean(_ place: DirectoryPlace) {
    guard leftovers(place).contains(where: { Directories.exists($0) }),
      let lock = try? FileDescriptor(opening: place.lock, O_RDWR | O_CREAT), lock.tryLock(.exclusive)
    else { return }
    removeLeftovers(place)
    lock.unlock()
  }

  private static func leftovers(_ place: DirectoryPlace) -> [String] {
    [place.new, place.waiting, place.unpacked]
  }

  private static func removeLeftovers(_ place: DirectoryPlace) {
    for path in leftovers(place) {
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }
  }
}
