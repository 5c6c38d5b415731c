internal import PodcastModel
internal import TransferProtocol

// What the cache holds that no record speaks of, and what it holds no longer.
extension Engine {
  /// Takes up what was found in the cache, oldest first.
  func adopt(_ records: [TransferRecord]) {
    let news = records.filter { downloads[$0.key] == nil }
    for var record in news {
      lastOrder += 1
      record.order = lastOrder
      lastRevision = max(lastRevision, record.revision)
      let download = Download(record: record, now: now)
      downloads.insert(download)
      touch(download)
    }
    if !news.isEmpty { emit(.log("found \(news.count) episodes in the cache that the store did not know")) }
  }

  /// The journal keeps the facts of the record, for the day when the store is lost.
  func note(_ download: Download) {
    guard let store = download.openStore, download.noted.map({ !$0.hasSameNote(as: download.record) }) ?? true
    else { return }
    revise(download)
    download.noted = download.record
    emit(.store(store.id, .note(download.record.note)))
    store.isDescriptionNew = true
  }

  /// Has the files opened for what the journal has not heard of.
  func lookToNote(_ download: Download) {
    guard download.store == nil, download.record.received > 0, download.hasFiles != false,
      let known = download.noted ?? download.saved, !known.hasSameNote(as: download.record)
    else { return }
    download.mustLook = true
  }

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

  /// Counts what is there by the length of data files that nobody has open, which another program may have changed: it
  /// stays `cached`, and its observers know better by the same length, until somebody wants it and it is looked at. What
  /// is longer than it was is looked at now, because it may be whole.
  func measure(_ files: [(key: MediaKey, generation: UInt32, length: Int64)]) {
    var changed = 0
    for (key, generation, length) in files {
      guard let download = downloads[key], download.store == nil, download.record.generation == generation
      else { continue }
      let record = download.record
      let isCached = record.state == .cached
      let received = FileLength.received(
        record.received, of: record.total, isCached: isCached, length: length)
      let isTooLong = isCached && length > record.total ?? .max
      if received == record.received && !isTooLong { continue }
      if received < record.received { changed += 1 }
      download.record.received = received
      if isTooLong { download.mustLook = true }
      touch(download)
    }
    if changed > 0 {
      emit(
        .log("the length of \(changed) files is not what it was: what is missing comes when it is read"))
    }
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
