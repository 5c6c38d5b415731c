internal import Glibc
package import PodcastModel
package import PosixKit

/// Where the cache keeps what. Of each generation of an episode:
/// - `KEY-GENERATION.part`, a sparse file with the bytes that have come, while some are missing;
/// - `KEY-GENERATION`, the same file once it is complete and on the disk: its name is the proof;
/// - `KEY-GENERATION.ranges`, the journal: which bytes are on the disk, and their checksums;
/// - the live map of a partial file, in the runtime folder, or beside the data where that folder is full.
package struct CacheLayout: Hashable, Sendable {
  package var cache: String
  package var runtime: String

  package init(cache: String, runtime: String) {
    self.cache = cache
    self.runtime = runtime
  }

  package var episodes: String { cache + "/episodes" }
  package var maps: String { runtime + "/maps" }

  private func name(_ key: MediaKey, _ generation: UInt32) -> String { "\(key)-\(generation)" }

  package func whole(_ key: MediaKey, _ generation: UInt32) -> String {
    "\(episodes)/\(name(key, generation))"
  }
  package func part(_ key: MediaKey, _ generation: UInt32) -> String { whole(key, generation) + ".part" }
  package func journal(_ key: MediaKey, _ generation: UInt32) -> String { whole(key, generation) + ".ranges" }
  package func map(_ key: MediaKey, _ generation: UInt32) -> String { "\(maps)/\(name(key, generation))" }
  /// Where a live map is made for which the runtime folder has no room.
  package func spareMap(_ key: MediaKey, _ generation: UInt32) -> String {
    whole(key, generation) + Self.mapEnding
  }
  private static let mapEnding = ".map"
  /// The end of a file's name that is still being written, to replace another one.
  static let unfinished = ".new"

  /// The data file, complete or not.
  package func data(_ key: MediaKey, _ generation: UInt32) -> String {
    isWhole(key, generation) ? whole(key, generation) : part(key, generation)
  }

  /// Whether all of a generation is on the disk.
  package func isWhole(_ key: MediaKey, _ generation: UInt32) -> Bool {
    size(of: whole(key, generation)) != nil
  }

  /// Whether the data file of a generation is there.
  package func hasData(_ key: MediaKey, _ generation: UInt32) -> Bool {
    isWhole(key, generation) || size(of: part(key, generation)) != nil
  }

  private func size(of path: String) -> Int64? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Creates the folders where they are missing, and the tag that tells backups to pass the cache by
  /// (bford.info/cachedir).
  package func create() throws {
    try Directories.createPrivate(cache)
    try Directories.createPrivate(episodes)
    try Directories.createPrivate(maps)
    let tag = cache + "/CACHEDIR.TAG"
    let text = """
      Signature: 8a477f597d28d172789f06886806bc55
      # This file is a cache directory tag created by podcastfs.
      # For information about cache directory tags see https://bford.info/cachedir/

      """
    // One that a power loss has emptied is made again.
    if size(of: tag) ?? 0 > 0 { return }
    do {
      try Directories.replace(tag, with: Array(text.utf8), outlivesPower: false)
    } catch let error as PosixError {
      // It waits for room: what is cached can be read, and dropped, without it.
      if error.errno != .ENOSPC && error.errno != .EDQUOT { throw error }
    }
  }

  /// Removes the files of a generation. Processes that have them open can still read them.
  /// - Returns: the error if a data file could not be removed, for example EROFS; otherwise nil.
  @discardableResult
  package func remove(_ key: MediaKey, _ generation: UInt32) -> Errno? {
    for path in [whole(key, generation), part(key, generation)] where unlink(path) != 0 {
      let reason = Errno.current
      if reason != .ENOENT && reason != .ENOTDIR { return reason }
    }
    for path in [
      map(key, generation), spareMap(key, generation), journal(key, generation) + Self.unfinished,
      journal(key, generation),
    ] { unlink(path) }
    return nil
  }

  /// Brings to the disk which names there are (fsync(2) of the folder); without a word where it can't.
  package func flushNames() {
    guard let folder = try? FileDescriptor(opening: episodes, O_RDONLY | O_DIRECTORY) else { return }
    try? folder.synchronize()
  }

  /// A generation's data file.
  package struct Stored: Hashable, Sendable {
    package var key: MediaKey
    package var generation: UInt32
    /// The size of a complete file; nil where bytes are missing.
    package var size: Int64?
    /// Seconds since 1970.
    package var written: Int64
  }

  /// All data files. Removes what a killed daemon was about to put in the place of other files, which may hold secret
  /// addresses; journals without data; and live maps of an earlier run of the machine.
  package func sweep() -> [Stored] {
    let names = Set((try? Directories.names(in: episodes)) ?? [])
    var found: [Stored] = []
    for name in names {
      let path = episodes + "/" + name
      if name.hasSuffix(Self.unfinished) { unlink(path) }
      if name.hasSuffix(Self.mapEnding), LiveMap.words(at: path) == nil { unlink(path) }
      guard let (key, generation) = Self.parse(name) else { continue }
      let base = "\(key)-\(generation)"
      if name != base && !name.hasSuffix(".part") {
        if !names.contains(base) && !names.contains(base + ".part") { unlink(path) }
        continue
      }
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      found.append(
        Stored(
          key: key, generation: generation, size: name == base ? Int64(status.st_size) : nil,
          written: Int64(status.st_mtim.tv_sec)))
    }
    return found
  }

  /// Whether there is a file of any episode.
  package var isEmpty: Bool {
    !((try? Directories.names(in: episodes)) ?? []).contains { Self.parse($0) != nil }
  }

  /// The key and generation that a file's name tells; nil for a foreign name.
  package static func parse(_ name: String) -> (key: MediaKey, generation: UInt32)? {
    let base = name.prefix { $0 != "." }
    let parts = base.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let key = MediaKey(String(parts[0])), let generation = UInt32(parts[1]) else {
      return nil
    }
    return (key, generation)
  }
}
