internal import PodcastModel
internal import TransferProtocol

// Bytes that are not what was written.
extension Engine {
  /// These bytes are not what was written: they come again.
  func discard(_ ranges: [Range<Int64>], of key: MediaKey, _ generation: UInt32) {
    guard let download = downloads[key], download.record.generation == generation, generation > 0,
      !ranges.isEmpty
    else { return }
    logDamage(of: download)
    // Nothing may be written by who has looked at what is there before.
    endFlows(of: download)
    download.damaged += ranges
    if let store = download.openStore { tellDamage(to: store, download) } else { download.mustLook = true }
    touch(download)
  }

  func logDamage(of download: Download, _ why: String = "") {
    let request = download.record.request
    emit(.log("what is cached of \(request.show) – \(request.title) is damaged\(why)"))
  }

  /// Has the files let go of what was found.
  func tellDamage(to store: Store, _ download: Download) {
    if download.damaged.isEmpty { return }
    store.pending += 1
    store.discards += 1
    store.isDamaged = true
    emit(.store(store.id, .discardBytes(download.damaged)))
    download.damaged = []
  }

  func discarded(_ present: ByteRanges, _ store: Store, _ download: Download) {
    store.discards = max(store.discards - 1, 0)
    store.setPresent(present)
    download.record.received = store.received
    guard download.record.state == .cached, !store.isComplete else { return }
    download.record.state = .remote
    want(download, isExplicit: true)
  }
}
