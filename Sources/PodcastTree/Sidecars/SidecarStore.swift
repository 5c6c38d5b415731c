package import Configuration
internal import Glibc
package import PodcastModel
package import PosixKit

/// The copies of sidecars in the cache directory, one file each. They may be deleted at any time: the table in memory is a
/// hint, and a missing copy is fetched again.
final class SidecarStore: Sendable {
  /// What is known of a copy without asking the disk.
  struct Copy: Hashable, Sendable {
    /// In bytes.
    var size: Int64
    /// When it came, in seconds since 1970.
    var fetched: Int64
    /// An empty copy stands for a file that its host does not have.
    var isMissing: Bool { size == 0 }
  }

  private struct State {
    var copies: [SidecarKey: Copy] = [:]
    /// Those that could not be fetched a moment ago.
    var resting: Set<SidecarKey> = []
    var total: Int64 = 0
    var isLoaded = false
  }

  /// Where reads and writes wait for the disk.
  let disk = WorkQueue(name: "sidecars")
  private let directory: String
  private let state = Monitor(State())

  /// The oldest go beyond this, in bytes and in number.
  private static let limit: (bytes: Int64, count: Int) = (256 << 20, 5000)
  /// Seconds after which a copy is fetched again when it is opened.
  static let lifetime: Int64 = 7 * 86_400

  init(directory: String) { self.directory = directory }

  deinit { disk.stop() }

  /// Seconds for which a sidecar that could not be fetched is not listed: a copy of its folder succeeds meanwhile.
  static let rest = 600.0

  /// Whether its host has said that there is no such file, or did not give it a moment ago.
  func isMissing(_ key: SidecarKey) -> Bool {
    state.withLock { $0.resting.contains(key) || $0.copies[key]?.isMissing ?? false }
  }

  func setResting(_ key: SidecarKey, _ isResting: Bool) {
    state.withLock { state in
      if isResting { state.resting.insert(key) } else { state.resting.remove(key) }
    }
  }

  /// A podcast's feed has changed: what its hosts did not have may be there now.
  /// - Returns: the sidecars that were missing.
  func forgetMissing(ofPodcast podcast: Int64) -> Set<SidecarKey> {
    load()
    let keys = state.withLock { state in
      let resting = state.resting.filter { $0.podcast == podcast }
      state.resting.subtract(resting)
      return resting.union(
        state.copies.filter { $0.value.isMissing && $0.key.podcast == podcast }.map(\.key))
    }
    for key in keys { drop(key) }
    return keys
  }

  /// From memory: nil before `load`.
  func copy(_ key: SidecarKey) -> Copy? { state.withLock { $0.copies[key] } }

  /// Looks at a copy that may have come or gone by another process; nil for any of them.
  func look(_ key: SidecarKey?) {
    guard let key else { return read() }
    var status = stat()
    let isThere = lstat(path(key), &status) == 0
    remember(
      isThere ? Copy(size: Int64(status.st_size), fetched: Int64(status.st_mtim.tv_sec)) : nil, key)
  }

  /// The bytes of a copy; nil where there is none.
  func read(_ key: SidecarKey) -> (bytes: [UInt8], copy: Copy)? {
    do {
      let file = try FileDescriptor(openingRegular: path(key), O_RDONLY)
      let status = try file.status()
      let bytes = try Directories.readRegular(path(key))
      let copy = Copy(size: Int64(bytes.count), fetched: Int64(status.st_mtim.tv_sec))
      remember(copy, key)
      return (bytes, copy)
    } catch {
      remember(nil, key)
      return nil
    }
  }

  /// Keeps a fetched file. Where the disk has no room for it, the next open fetches it again.
  /// - Parameter bytes: none where the host does not have it.
  func store(_ bytes: [UInt8], _ key: SidecarKey) {
    do {
      try Directories.create(directory)
      try Directories.replace(path(key), with: bytes)
      // Its time is the file's, as every mount sees it.
      look(key)
      for old in surplus() { drop(old) }
    } catch {
      remember(bytes.isEmpty ? Copy(size: 0, fetched: wallClockSeconds()) : nil, key)
    }
  }

  func drop(_ key: SidecarKey) {
    unlink(path(key))
    remember(nil, key)
  }

  private func path(_ key: SidecarKey) -> String { directory + "/" + key.fileName }

  private func remember(_ copy: Copy?, _ key: SidecarKey) {
    state.withLock { state in
      let old = state.copies[key]
      state.copies[key] = copy
      state.total += (copy?.size ?? 0) - (old?.size ?? 0)
    }
  }

  /// The oldest copies, where there are too many: so many that there is room again for a while.
  private func surplus() -> [SidecarKey] {
    state.withLock { state in
      guard state.total > Self.limit.bytes || state.copies.count > Self.limit.count else { return [] }
      var (bytes, count) = (state.total, state.copies.count)
      var keys: [SidecarKey] = []
      for (key, copy) in state.copies.sorted(by: { $0.value.fetched < $1.value.fetched }) {
        if bytes <= Self.limit.bytes / 4 * 3 && count <= Self.limit.count / 4 * 3 { break }
        keys.append(key)
        bytes -= copy.size
        count -= 1
      }
      return keys
    }
  }

  /// Reads what the directory holds, at the first call. Not under a lock that others need: it may take long.
  func load() {
    if !state.withLock({ $0.isLoaded }) { read() }
  }

  /// What a process that died left half written goes.
  private func read() {
    var copies: [SidecarKey: Copy] = [:]
    for name in (try? Directories.names(in: directory)) ?? [] {
      var status = stat()
      guard lstat(directory + "/" + name, &status) == 0 else { continue }
      let fetched = Int64(status.st_mtim.tv_sec)
      if let key = SidecarKey(fileName: name) {
        copies[key] = Copy(size: Int64(status.st_size), fetched: fetched)
      } else if name.hasSuffix(".new"), fetched < wallClockSeconds() - 3600 {
        unlink(directory + "/" + name)
      }
    }
    let total = copies.values.reduce(0) { $0 + $1.size }
    state.withLock { [copies] state in
      state.copies = copies
      state.total = total
      state.isLoaded = true
    }
  }
}

/// The copies of sidecars in the cache, for commands.
package enum SidecarCopies {
  static func directory(in places: Places) -> String { places.cache + "/sidecars" }

  /// Deletes the copies of a podcast's cover and of all that was beside its episodes.
  package static func remove(ofPodcast podcast: Int64, in places: Places) {
    let directory = directory(in: places)
    for name in (try? Directories.names(in: directory)) ?? [] {
      if SidecarKey(fileName: name)?.podcast == podcast { unlink(directory + "/" + name) }
    }
  }
}

/// Fetches sidecars from the network.
package protocol SidecarFetcher: AnyObject, Sendable {
  /// Fetches a small file as a whole, within bounds of size and time. The completion is called exactly once,
  /// on any thread; cancelled, with EINTR.
  /// - Parameter allowsPrivateHosts: whether the address may lead to a private, loopback or link-local host.
  func fetch(
    _ url: WebAddress, allowsPrivateHosts: Bool,
    completion: @escaping @Sendable (Result<[UInt8], Errno>) -> Void
  ) -> any Cancellable
}
