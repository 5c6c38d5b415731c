internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `.podcastfs/` and the subscription list: for the owner alone, because private feeds have tokens.
extension PodcastTree {
  func controlFileAttributes(_ node: NodeID) -> NodeAttributes {
    let isWritable = node == .subscriptionList
    var attributes = NodeAttributes(node: node, isDirectory: false, permissions: isWritable ? 0o600 : 0o400)
    attributes.size = controlFileSize(node)
    attributes.stored = attributes.size
    attributes.modified = wallClockSeconds()
    attributes.changed = attributes.modified
    attributes.timeout = 0
    return attributes
  }

  /// What an open would give now: tar and rsync take a file's size for its word.
  private func controlFileSize(_ node: NodeID) -> Int64 {
    switch node {
    case .status: return Int64(statusText().count)
    case .subscriptionList: return state.withLock { $0.subscriptionListSize }
    case .log:
      var status = stat()
      return stat(places.logFile, &status) == 0 ? min(Int64(status.st_size), Int64(Self.logLimit)) : 0
    // A stream: a size of 0 would be taken for an empty file.
    default: return 4096
    }
  }

  private static let logLimit = 1 << 20

  func openControlFile(_ node: NodeID, writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    if writes {
      return node == .subscriptionList ? .value(newUpload(named: nil).file) : .failure(.EROFS)
    }
    switch node {
    case .status: return .value(TextFile(statusText()))
    case .events: return .value(events.open())
    case .log: return .on(loader) { TextFile(try self.logText()) }
    case .subscriptionList: return .on(loader) { TextFile(try self.catalog.exportOPML()) }
    default: return .failure(.EISDIR)
    }
  }

  private func statusText() -> [UInt8] {
    let report = StatusReport.json(
      transfers.allStatuses(), version: podcastfsVersion, cacheLimit: settings.cacheSize)
    return Array(report.indentedText.utf8) + [UInt8(ascii: "\n")]
  }

  /// The end of the log, at most 1 MiB of it.
  private func logText() throws -> [UInt8] {
    do {
      return Array(try Directories.read(places.logFile).suffix(Self.logLimit))
    } catch let error as PosixError where error.errno == .ENOENT {
      return []
    }
  }

  // MARK: statfs

  /// Total is `cache_size`; total minus free is what is cached; less room on the disk lowers only what is
  /// available. In bytes.
  package func statistics() -> (total: Int64, free: Int64, available: Int64, nodes: Int64) {
    let used = transfers.allStatuses().reduce(0) { $0 + $1.received }
    let free = max(0, settings.cacheSize - used)
    let room = Directories.roomLeft(at: places.cache).map { max(0, $0 - settings.minimumFree) } ?? free
    return (settings.cacheSize, free, min(free, room), Int64(state.withLock { $0.podcastOfEpisode.count }))
  }
}
