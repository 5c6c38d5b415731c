internal import Catalog
package import Configuration
internal import Glibc
package import PodcastModel
package import PosixKit

/// What is known of a sidecar's copy without asking the disk.
struct SidecarCopy: Hashable, Sendable {
  /// In bytes.
  var size: Int64
  /// When it came, in seconds since 1970.
  var fetched: Int64
  /// An empty copy stands for a file that its host does not have.
  var isMissing: Bool { size == 0 }
  /// Whether it is not fetched again when it is opened.
  var isFresh: Bool { fetched > wallClockSeconds() - Self.lifetime }
  /// In seconds.
  private static let lifetime: Int64 = 7 * 86_400
}

/// The copies of sidecars in the cache directory, one file each. They may be deleted at any time: a missing copy is
/// fetched again.
struct SidecarStore: Sendable {
  let directory: String

  /// When a mount begins, the oldest go beyond so many bytes.
  private static let limit: Int64 = 512 << 20

  /// All of them. What a process that died left half written goes.
  func copies() -> [SidecarKey: SidecarCopy] {
    var copies: [SidecarKey: SidecarCopy] = [:]
    for name in (try? Directories.names(in: directory)) ?? [] {
      guard let copy = look(name) else { continue }
      if let key = SidecarKey(fileName: name) {
        copies[key] = copy
      } else if copy.fetched < wallClockSeconds() - 3600 {
        unlink(directory + "/" + name)
      }
    }
    var bytes = copies.values.reduce(0) { $0 + $1.size }
    for (key, copy) in copies.sorted(by: { $0.value.fetched < $1.value.fetched }) where bytes > Self.limit {
      drop(key)
      copies[key] = nil
      bytes -= copy.size
    }
    return copies
  }

  func look(_ key: SidecarKey) -> SidecarCopy? { look(key.fileName) }

  private func look(_ name: String) -> SidecarCopy? {
    var status = stat()
    guard lstat(directory + "/" + name, &status) == 0 else { return nil }
    return SidecarCopy(size: Int64(status.st_size), fetched: Int64(status.st_mtim.tv_sec))
  }

  func read(_ key: SidecarKey) -> [UInt8]? { try? Directories.readRegular(path(key)) }

  /// Keeps a fetched file. Where the disk has no room for it, the next open fetches it again.
  /// - Parameter bytes: none where the host does not have it.
  /// - Returns: its copy. Its time is the file's, as every mount sees it.
  func store(_ bytes: [UInt8], _ key: SidecarKey) -> SidecarCopy? {
    do {
      try Directories.create(directory)
      try Directories.replace(path(key), with: bytes)
      return look(key)
    } catch {
      return bytes.isEmpty ? SidecarCopy(size: 0, fetched: wallClockSeconds()) : nil
    }
  }

  func drop(_ key: SidecarKey) { unlink(path(key)) }
  private func path(_ key: SidecarKey) -> String { directory + "/" + key.fileName }
}

package enum SidecarCopies {
  package static func directory(in places: Places) -> String { Catalog.sidecarCopies(in: places) }

  /// The chapters of an episode, where the cache has a copy of them that need not be fetched again.
  package static func chapters(of entry: EpisodeEntry, in places: Places) -> [UInt8]? {
    guard let url = entry.episode.chaptersURL else { return nil }
    let store = SidecarStore(directory: directory(in: places))
    let key = SidecarKey(node: NodeID(.chapters, entry.episode.id), address: url)
    guard let copy = store.look(key), !copy.isMissing, copy.isFresh else { return nil }
    return store.read(key)
  }

  /// The name of a podcast's picture in its directories, where the cache has it.
  package static func cover(of podcast: Podcast, in places: Places) -> String? {
    guard let cover = Sidecar.cover(of: podcast) else { return nil }
    let copy = SidecarStore(directory: directory(in: places)).look(cover.key)
    return copy.map { !$0.isMissing } ?? false ? cover.name : nil
  }

  package static func remove(ofPodcast podcast: Int64, in places: Places) {
    let store = SidecarStore(directory: directory(in: places))
    for key in store.copies().keys where key.podcast == podcast { store.drop(key) }
  }
}

package protocol SidecarFetcher: AnyObject, Sendable {
  /// Fetches a small file as a whole, within bounds of size and time. The completion is called exactly once,
  /// on any thread; cancelled, with EINTR.
  /// - Parameters:
  ///   - allowsPrivateHosts: whether the address may lead to a private, loopback or link-local host.
  ///   - acceptsPages: whether it may be a web page. Else one is that of an error or a login, and fails.
  func fetch(
    _ url: WebAddress, allowsPrivateHosts: Bool, acceptsPages: Bool,
    completion: @escaping @Sendable (Result<[UInt8], Errno>) -> Void
  ) -> any Cancellable
}
