internal import Glibc
package import PodcastModel
package import PosixKit

/// Where the cache keeps what: per episode and generation a sparse data file and the journal of its durable
/// ranges in the cache folder, and the live map of its ranges in the runtime folder.
package struct CacheLayout: Hashable, Sendable {
  package var cache: String
  package var runtime: String

  package init(cache: String, runtime: String) {
    self.cache = cache
    self.runtime = runtime
  }

  package var episodes: String { cache + "/episodes" }
  package var maps: String { runtime + "/maps" }

  package func data(_ key: MediaKey, _ generation: UInt32) -> String { "\(episodes)/\(key).\(generation)" }
  package func journal(_ key: MediaKey, _ generation: UInt32) -> String { data(key, generation) + ".ranges" }
  package func map(_ key: MediaKey, _ generation: UInt32) -> String { "\(maps)/\(key).\(generation)" }
  /// Where a live map is made for which the runtime folder has no room.
  package func spareMap(_ key: MediaKey, _ generation: UInt32) -> String {
    data(key, generation) + Self.mapName
  }
  private static let mapName = ".map"
  /// The end of a file's name that is still being written, to replace another one.
  static let unfinished = ".new"

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
    var status = stat()
    if stat(tag, &status) != 0 || status.st_size == 0 {
      // One that a power loss has emptied is made again.
      do {
        try Directories.replace(tag, with: Array(text.utf8), outlivesPower: false)
      } catch let error as PosixError {
        // It waits for room: what is cached can be read, and dropped, without it.
        if error.errno != .ENOSPC && error.errno != .EDQUOT { throw error }
      }
    }
  }

  /// Takes a generation's names away; whoever has it open keeps its bytes.
  /// - Returns: whether one of them was a directory's, which somebody may have made a moment ago; and why the data file
  ///   is still there, as on a disk that is read-only.
  @discardableResult
  package func remove(_ key: MediaKey, _ generation: UInt32) -> (hadDirectory: Bool, failure: Errno?) {
    var hadDirectory = false
    var failure: Errno?
    // The journal last: while it is there, what is left is known for what it is.
    for path in [
      map(key, generation), spareMap(key, generation), data(key, generation),
      journal(key, generation) + Self.unfinished, journal(key, generation),
    ] where unlink(path) != 0 {
      let reason = Errno.current
      if reason == .EISDIR {
        hadDirectory = true
        // Only an empty one.
        rmdir(path)
      } else if path == data(key, generation), reason != .ENOENT, reason != .ENOTDIR {
        failure = reason
        break
      }
    }
    return (hadDirectory, failure)
  }

  /// Brings to the disk which names there are (fsync(2) of the folder); without a word where it can't.
  package func flushNames() {
    guard let folder = try? FileDescriptor(opening: episodes, O_RDONLY | O_DIRECTORY) else { return }
    try? folder.synchronize()
  }

  /// Removes maps in the cache that are of an earlier run of the machine.
  package func removeOldMaps() {
    for name in (try? Directories.names(in: episodes)) ?? [] where name.hasSuffix(Self.mapName) {
      let path = episodes + "/" + name
      if LiveMap.words(at: path) == nil { unlink(path) }
    }
  }

  /// Whether the data file of a generation is there. What is no regular file is not it.
  package func hasData(_ key: MediaKey, _ generation: UInt32) -> Bool {
    isRegular(data(key, generation)) == true
  }

  /// How long the data file of a generation is; nil where it is not there.
  package func length(_ key: MediaKey, _ generation: UInt32) -> Int64? {
    var status = stat()
    guard lstat(data(key, generation), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Whether something else has the name of a generation's data file: a fifo, a link, a directory.
  package func hasStranger(_ key: MediaKey, _ generation: UInt32) -> Bool {
    isRegular(data(key, generation)) == false
  }

  /// nil where there is nothing.
  private func isRegular(_ path: String) -> Bool? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
  }

  /// The latest generation at `generation` or right behind it whose data file is there.
  package func latestGeneration(of key: MediaKey, from generation: UInt32) -> UInt32 {
    var latest = generation
    while latest < .max, hasData(key, latest + 1) { latest += 1 }
    return latest
  }

  /// All generations whose files are there, whole or in part.
  package func generations() -> [MediaKey: Set<UInt32>] {
    var result: [MediaKey: Set<UInt32>] = [:]
    for name in (try? Directories.names(in: episodes)) ?? [] {
      guard let (key, generation) = Self.parse(name) else { continue }
      result[key, default: []].insert(generation)
    }
    return result
  }

  /// The key and generation that a data file's or journal's name tells; nil for a foreign name.
  package static func parse(_ name: String) -> (MediaKey, UInt32)? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 || (parts.count == 3 && parts[2] == "ranges"),
      let key = MediaKey(String(parts[0])), let generation = UInt32(parts[1])
    else { return nil }
    return (key, generation)
  }
}
