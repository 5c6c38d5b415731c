internal import Glibc
package import PodcastModel
package import PosixKit

/// The names of the cache's files. Each generation of an episode has:
/// - `KEY-GENERATION.part`, a sparse file with the bytes that have come, while some are missing;
/// - `KEY-GENERATION`, the same file once it is complete and on the disk: its name is the proof;
/// - `KEY-GENERATION.ranges`, the journal: which bytes are on the disk, and their checksums;
/// - the live map of a partial file, in the runtime folder.
package struct CacheLayout: Hashable, Sendable {
  package var cache: String
  package var runtime: String

  package init(cache: String, runtime: String) {
    (self.cache, self.runtime) = (cache, runtime)
  }

  /// O_NOATIME of open(2): what podcastfs itself reads, to check or to compare, counts as no use of an episode.
  static let keepsAccessTime: Int32 = 0o1_000_000

  package var episodes: String { cache + "/episodes" }
  package var maps: String { runtime + "/maps" }
  package func whole(_ key: MediaKey, _ generation: UInt32) -> String { "\(episodes)/\(key)-\(generation)" }
  package func part(_ key: MediaKey, _ generation: UInt32) -> String { whole(key, generation) + ".part" }
  package func journal(_ key: MediaKey, _ generation: UInt32) -> String { whole(key, generation) + ".ranges" }
  package func map(_ key: MediaKey, _ generation: UInt32) -> String { "\(maps)/\(key)-\(generation)" }

  package func data(_ key: MediaKey, _ generation: UInt32) -> String {
    isWhole(key, generation) ? whole(key, generation) : part(key, generation)
  }

  package func isWhole(_ key: MediaKey, _ generation: UInt32) -> Bool {
    Self.status(of: whole(key, generation)) != nil
  }

  /// Whether the files of a generation are there: a partial one is of use only with its journal. The daemon may rename a
  /// partial file to a whole one between two looks: the look for the whole one comes last.
  package func hasData(_ key: MediaKey, _ generation: UInt32) -> Bool {
    Self.status(of: part(key, generation)) != nil && Self.status(of: journal(key, generation)) != nil
      || isWhole(key, generation)
  }

  /// Opens the data file, also where the daemon renames it meanwhile.
  /// - Throws: `PosixError`: ENOENT where it is not there.
  package func openData(
    _ key: MediaKey, _ generation: UInt32, _ flags: Int32
  ) throws(PosixError) -> FileDescriptor {
    if let whole = try? FileDescriptor(openingRegular: whole(key, generation), flags) { return whole }
    do throws(PosixError) {
      return try FileDescriptor(openingRegular: part(key, generation), flags)
    } catch {
      guard error.errno == .ENOENT, isWhole(key, generation) else { throw error }
      return try FileDescriptor(openingRegular: whole(key, generation), flags)
    }
  }

  static func status(of path: String) -> stat? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status
  }

  /// Creates the folders, and the tag that tells backups to pass the cache by (bford.info/cachedir).
  package func create() throws {
    for folder in [cache, episodes, maps] { try Directories.createPrivate(folder) }
    let tag = cache + "/CACHEDIR.TAG"
    let text = """
      Signature: 8a477f597d28d172789f06886806bc55
      # This file is a cache directory tag created by podcastfs.
      # For information about cache directory tags see https://bford.info/cachedir/

      """
    // A tag that a power loss has emptied is made again. A full disk needs none.
    if Self.status(of: tag)?.st_size ?? 0 == 0 {
      try? Directories.replace(tag, with: Array(text.utf8), outlivesPower: false)
    }
  }

  /// Removes the files of a generation. Processes that have them open can still read them.
  /// - Returns: the error if one of them could not be removed, for example EROFS; otherwise nil.
  @discardableResult
  package func remove(_ key: MediaKey, _ generation: UInt32) -> Errno? {
    // The data goes first: while it stays, its journal must stay.
    let data = [whole(key, generation), part(key, generation)]
    for path in data + [journal(key, generation), map(key, generation)] where unlink(path) != 0 {
      let reason = Errno.current
      if reason != .ENOENT && reason != .ENOTDIR { return reason }
    }
    return nil
  }

  /// When a generation was last read, in nanoseconds since 1970; nil where its data file is not there.
  package func lastRead(_ key: MediaKey, _ generation: UInt32) -> Int64? {
    Self.status(of: data(key, generation)).map {
      Int64($0.st_atim.tv_sec) * 1_000_000_000 + Int64($0.st_atim.tv_nsec)
    }
  }

  /// Removes a generation unless somebody has it open.
  /// - Returns: whether it is gone.
  package func evict(_ key: MediaKey, _ generation: UInt32) -> Bool {
    do {
      let file = try openData(key, generation, O_RDWR)
      // Readers hold a shared lock for as long as they have it open.
      guard file.tryLock(.exclusive) else { return false }
    } catch {
      if hasData(key, generation) { return false }
    }
    remove(key, generation)
    return !hasData(key, generation)
  }

  package func flushNames() {
    guard let folder = try? FileDescriptor(opening: episodes, O_RDONLY | O_DIRECTORY) else { return }
    try? folder.synchronize()
  }

  /// Looks at the folder. Of a `known` generation that is there it reads the name only, because a cache has 100,000 of them.
  /// Removes journals without data.
  /// - Returns: all data files of episodes of which another generation is there than the known one; the names of the others.
  package func sweep(
    besides known: [MediaKey: UInt32] = [:]
  ) -> (found: [FoundFile], expected: Set<MediaKey>) {
    var data: [MediaKey: Set<UInt32>] = [:]
    var others: [(key: MediaKey, generation: UInt32, name: String)] = []
    for name in (try? Directories.names(in: episodes)) ?? [] {
      guard let (key, generation) = Self.parse(name) else { continue }
      if !name.utf8.contains(UInt8(ascii: ".")) || name.hasSuffix(".part") {
        data[key, default: []].insert(generation)
      } else {
        others.append((key, generation, name))
      }
    }
    for other in others where data[other.key]?.contains(other.generation) != true {
      unlink("\(episodes)/\(other.name)")
    }
    var found: [FoundFile] = []
    var expected: Set<MediaKey> = []
    for (key, generations) in data {
      if let generation = known[key], generations.contains(generation) { expected.insert(key) }
      if generations.count == 1 && expected.contains(key) { continue }
      for generation in generations {
        let isWhole = isWhole(key, generation)
        guard let status = Self.status(of: isWhole ? whole(key, generation) : part(key, generation)) else {
          continue
        }
        found.append(
          FoundFile(
            key: key, generation: generation, size: isWhole ? Int64(status.st_size) : nil,
            written: Int64(status.st_mtim.tv_sec)))
      }
    }
    return (found, expected)
  }

  /// The key and generation that a file's name tells; nil for a foreign name.
  package static func parse(_ name: String) -> (key: MediaKey, generation: UInt32)? {
    let text = name.utf8.prefix { $0 != UInt8(ascii: ".") }
    guard text.count > 33, text.dropFirst(32).first == UInt8(ascii: "-"), let key = MediaKey(name.prefix(32)),
      let generation = UInt32(Substring(text.dropFirst(33)))
    else { return nil }
    return (key, generation)
  }
}
