internal import PodcastModel
internal import TransferProtocol

/// All downloads, with those that something is to be done for apart: what is looked at with every event must
/// not grow with what was downloaded in years.
struct DownloadTable {
  private(set) var all: [MediaKey: Download] = [:]
  /// What somebody wants or has open, and what has just changed.
  private(set) var busy: [MediaKey: Download] = [:]
  /// Bytes of the others.
  private var restingBytes: Int64 = 0

  /// Bytes in the cache.
  var bytes: Int64 { busy.values.reduce(restingBytes) { $0 + $1.received } }

  /// Those of `busy`, always in the same order.
  var busyInOrder: [Download] {
    busy.values.sorted { ($0.record.order, $0.key) < ($1.record.order, $1.key) }
  }

  subscript(key: MediaKey) -> Download? { all[key] }

  /// Adds one that is at rest.
  mutating func insert(_ download: Download) {
    all[download.key] = download
    count(download)
  }

  /// It changes, or is about to.
  mutating func rouse(_ download: Download) {
    guard busy.updateValue(download, forKey: download.key) == nil else { return }
    restingBytes -= download.restingBytes
  }

  /// Puts it to rest where nothing is to be done for it.
  mutating func settle(_ download: Download) {
    guard !download.isBusy, busy.removeValue(forKey: download.key) != nil else { return }
    count(download)
  }

  /// Forgets one that is at rest.
  mutating func remove(_ download: Download) {
    guard busy[download.key] == nil, all.removeValue(forKey: download.key) != nil else { return }
    restingBytes -= download.restingBytes
  }

  private mutating func count(_ download: Download) {
    download.restingBytes = download.received
    restingBytes += download.restingBytes
  }
}
