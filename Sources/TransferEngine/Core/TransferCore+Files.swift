internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  /// Seconds after which the disk is asked again that has refused to open, and to flush.
  private static let again = (open: 1.0, flush: 3.0)

  private func needsFiles(_ download: Download) -> Bool {
    phase != .stopping && (!download.readers.isEmpty || download.isRunnable || download.mustLook)
  }

  /// Opens what is stored of the current generation, where it is needed and there may be any.
  mutating func prepareFiles(of download: inout Download) {
    // Deleted with the cache: readers that have it open keep it, and what comes for them; others begin anew.
    if download.openFiles?.isLinked == false && !download.isHeldByReaders { forgetBytes(of: &download) }
    guard download.files == nil, needsFiles(download), download.content != .nothing,
      isDue(\.filesUntil, &download)
    else { return }
    let (key, generation) = (download.key, download.record.generation)
    attach(.opening, generation, Representation(), .open(key, generation: generation), &download)
  }

  private mutating func attach(
    _ phase: OpenFiles.Phase, _ generation: UInt32, _ representation: Representation, _ order: StoreOrder,
    _ download: inout Download
  ) {
    let id = StoreID(nextNumber())
    download.files = OpenFiles(id, phase, generation: generation, representation)
    files[id] = download.key
    emit(.store(id, order))
  }

  mutating func detach(_ download: inout Download, isComplete: Bool = false) {
    guard let id = download.files?.id else { return }
    files[id] = nil
    download.files = nil
    emit(.store(id, .close(isComplete: isComplete)))
  }

  /// Begins a new generation for a response's bytes; readers of the old one keep what had come of it.
  mutating func beginGeneration(
    of download: inout Download, _ representation: Representation, for fetch: FlowID
  ) {
    detach(&download)
    // Pages in the kernel outlive the store, the cache and the daemon, and are known by this number. So it is random: no other
    // bytes of the episode should ever have had it. A node's number has room for nine bits of it only. These count up, so
    // that neighbours differ.
    let chance = max(UInt32(truncatingIfNeeded: random.next()) << 9, 1 << 9)
    let generation = chance | (download.record.generation &+ 1) & 0x1ff
    attach(
      .creating(fetch), generation, representation,
      .create(download.key, generation: generation, representation, leaving: leaving), &download)
  }

  mutating func answered(_ answer: DiskAnswer, by id: StoreID) {
    let isWrite = if case .wrote = answer { true } else { false }
    change(files[id], isQuiet: isWrite) { core, download in
      core.answered(answer, &download)
      guard isWrite, let files = download.files, files.unflushed >= Limits.flushAfter else { return }
      core.flush(&download, after: Limits.flushAfter)
      core.boundEndless(&download)
      core.measureRoom()
    }
  }

  private mutating func answered(_ answer: DiskAnswer, _ download: inout Download) {
    switch answer {
    case .flushed, .notFlushed: download.files?.isFlushing = false
    case .missing: break
    default: download.files?.answered(answer)
    }
    switch answer {
    case .opened(let representation, let present): opened(&download, representation, present)
    case .missing: missing(&download)
    case .created: created(&download)
    case .wrote(let fetch, let range): wrote(range, of: fetch, &download)
    case .compared(let fetch, let range, let agreed):
      compared(range, agreed: agreed, of: fetch, &download)
    case .described: flush(&download, after: 0)
    case .flushed: flush(&download, after: Limits.flushAfter - 1)
    case .notFlushed(let fault, let present):
      // What is on its way is not lost yet.
      endFetches(of: &download, losing: true)
      download.files?.notFlushed(present: present, isAgain: fault.kind == .noRoom)
      download.retry.filesUntil = now.instant.adding(Self.again.flush)
      if download.files?.isComplete == false { download.content = .part }
      refuse(fault.kind == .noRoom ? fault : Fault(.passing, fault.message), of: &download)
    case .failed(let fault, let present): failed(fault, present, &download)
    }
  }

  private mutating func opened(
    _ download: inout Download, _ representation: Representation, _ present: ByteRanges
  ) {
    download.files?.opened(representation, present: present, isWhole: download.content == .whole)
    download.mustLook = false
    if download.retry.filesUntil != nil {
      download.retry.filesUntil = nil
      download.retry.succeeded()
    }
    download.record.total = representation.total
    // The disk may have lost what it never took.
    if download.files?.isComplete == false && download.content == .whole {
      download.content = .part
      if download.isOpenForDownload && download.demand == .none { want(&download) }
    }
    judgeHeads(of: &download)
  }

  private mutating func created(_ download: inout Download) {
    guard let created = download.files, case .creating(let id) = created.phase else { return }
    download.files?.phase = .open
    if download.content != .nothing { remove(download.key, download.record.generation) }
    (download.content, download.record.generation) = (.part, created.generation)
    (download.record.total, download.record.received) = (created.representation.total, 0)
    download.expectsNothing()
    if case .begins(let representation, let at) = download[id]?.stage {
      accept(representation, at: at, agreeing: 0, id, &download)
    }
    for (index, reader) in download.readers.enumerated() where reader.generation == nil && !reader.isOpening {
      sendOpened(index, &download)
    }
    judgeHeads(of: &download)
  }

  private mutating func failed(_ fault: Fault, _ present: ByteRanges, _ download: inout Download) {
    let phase = download.files?.phase
    // Others may have been on their way behind the first.
    let isFirst = !download.fetches.isEmpty || download.isWanted && download.retry.until == nil
    endFetches(of: &download, losing: true)
    switch phase {
    case .opening:
      detach(&download)
      // The bytes are there; something is lacking that may be there again.
      download.retry.filesUntil = now.instant.adding(Self.again.open)
      handle(Fault(fault.kind == .noRoom ? .noRoom : .passing, fault.message), of: &download)
    case .open:
      download.files?.setPresent(present)
      if isFirst { refuse(fault, of: &download) }
    case .creating, nil:
      detach(&download)
      refuse(fault, of: &download)
    }
  }

  private mutating func refuse(_ failure: Fault, of download: inout Download) {
    touch(&download)
    download.retry.excuseHost()
    handle(failure, of: &download)
  }

  /// Flushes written bytes to the disk, where there are more than `least`. An episode has one flush at a time.
  mutating func flush(_ download: inout Download, after least: Int64) {
    // The disk does its orders at once: a flush could come before the description that it is to keep.
    if let open = download.openFiles, !open.isFlushing, open.undescribed == 0, open.unflushed > least,
      phase == .stopping || isDue(\.filesUntil, &download)
    {
      download.files?.beginFlush()
      emit(.flush(open.id))
    }
  }

  /// Closes what nobody needs, after its bytes are on the disk.
  mutating func releaseFiles(of download: inout Download) {
    guard let open = download.openFiles, download.fetches.isEmpty, open.pending == 0, !open.isFlushing
    else { return }
    let isNeeded = needsFiles(download)
    if !isNeeded || download.content == .whole { flush(&download, after: 0) }
    // There will be room again, and then the journal can say what is here.
    if isNeeded || open.unflushed > 0 && (phase != .stopping || download.files?.isFlushing == true) { return }
    download.record.received = open.received
    if !open.isLinked { return forgetBytes(of: &download) }
    detach(&download, isComplete: open.isComplete && open.isFlushed)
  }

  /// The bytes are gone or to go: dropped by the user, evicted, or deleted with the cache.
  mutating func forgetBytes(of download: inout Download, removesNames: Bool = true) {
    if removesNames { removeFiles(of: &download) }
    endFetches(of: &download, losing: true)
    detach(&download)
    download.expectsNothing()
    // Its size stays known, until the server says another.
    (download.content, download.mustLook, download.record.received) = (.nothing, false, 0)
  }

  private mutating func remove(_ key: MediaKey, _ generation: UInt32) {
    log.removes(key)
    emit(.remove(key, generation: generation))
  }

  mutating func removeFiles(of download: inout Download) {
    endFetches(of: &download, losing: true)
    let stored = download.content == .nothing ? nil : download.record.generation
    let new = download.files?.generation
    detach(&download)
    for generation in Set([stored, new].compactMap(\.self)).sorted() { remove(download.key, generation) }
  }

  /// There is no file to open; or the one that was flushed has no name any more.
  private mutating func missing(_ download: inout Download) {
    let wasOpen = download.openFiles != nil
    if wasOpen {
      download.files?.isFlushing = false
      touch(&download)
      if download.isHeldByReaders, download.openFiles?.isComplete == false {
        download.files?.isLinked = false
        return
      }
    } else {
      detach(&download)
    }
    vanished(&download)
    if !wasOpen { judgeHeads(of: &download) }
  }

  /// All that was here is gone. Before its last bytes are on the disk a download is not done: it comes again.
  private mutating func vanished(_ download: inout Download) {
    if phase == .listing {
      // Another generation may have been begun just before a daemon was killed: it is found in a moment.
      download.content = .nothing
      return
    }
    let isWanted = download.readers.contains { $0.mayDownload && $0.generation == nil }
    forgetBytes(of: &download)
    if isWanted && download.demand == .none { want(&download) }
  }

  /// Takes up files that the store does not know: complete ones where it was lost, and those that were begun just before
  /// a daemon was killed. Removes the others, and those whose names a power loss has brought back.
  mutating func sweep(_ found: [FoundFile], _ missing: [GenerationName]) {
    if phase == .listing { phase = .running }
    for (key, files) in Dictionary(grouping: found, by: \.key).sorted(by: { $0.key < $1.key }) {
      if !downloads.isEmptied(key) && !log.isDropping(key) { adopt(files, of: key) }
      let own = [downloads.record(of: key)?.generation, downloads.active[key]?.files?.generation]
      for file in files.sorted(by: { $0.generation < $1.generation })
      where !own.contains(file.generation) || downloads.isEmptied(key) { remove(key, file.generation) }
    }
    // Not before another generation has been found.
    for name in missing
    where downloads.storedName(of: name.key) == name && downloads.active[name.key]?.files == nil {
      change(name.key) { core, download in core.vanished(&download) }
    }
    changeAll()
  }

  /// Of the files of an episode the store's own counts, else the latest; of an unknown one only a complete one.
  private mutating func adopt(_ files: [FoundFile], of key: MediaKey) {
    let record = downloads.record(of: key)
    let latest = files.filter { record != nil || $0.size != nil }
      .max { ($0.written, $0.generation) < ($1.written, $1.generation) }
    let own = files.first { $0.generation == record?.generation }
    guard let file = own ?? latest, own == nil || downloads.storedName(of: key) == nil else { return }
    change(record?.request ?? TransferRequest(key: key)) { core, download in
      if let open = download.files, open.phase != .opening { return }
      core.detach(&download)
      download.record.generation = file.generation
      download.content = file.size == nil ? .part : .whole
      if let size = file.size { (download.record.total, download.record.received) = (size, size) }
      download.mustLook = record != nil
    }
    if record == nil {
      space.foundUnknown(at: now.instant)
      timers.add(.queue, at: space.restsUntil)
    }
  }
}
