internal import PodcastModel
internal import TransferProtocol

extension TransferCore {
  mutating func answerReaders(of download: inout Download) {
    for index in download.readers.indices {
      if download.readers[index].isOpening { answerOpen(index, &download) }
      if !download.readers[index].waits.isEmpty { answerWaits(index, &download) }
    }
  }

  private mutating func answerOpen(_ index: Int, _ download: inout Download) {
    let reader = download.readers[index]
    if reader.intent == .download && reader.generation == nil {
      let isSizeKnown = download.record.total != nil || download.hasNoLength
      let isSizeShown = isSizeKnown && download.openFiles?.undescribed == 0
      guard isSizeShown && !awaitsConfirmation(reader, download) else {
        if let failure = failure(of: download) ?? cancellation(of: download)
          ?? refusal(of: download, since: reader.begun)
        {
          download.readers[index].isOpening = false
          answer(reader.name, failure)
        }
        return
      }
    }
    // What is stored may be on its way to be opened.
    if download.files != nil && download.openFiles == nil { return }
    if reader.generation == nil, download.openFiles != nil {
      download.readers[index].generation = download.record.generation
    }
    sendOpened(index, &download)
  }

  private mutating func sendOpened(_ index: Int, _ download: inout Download) {
    download.readers[index].isOpening = false
    let reader = download.readers[index]
    answer(reader.name, generation: reader.generation ?? 0)
  }

  /// Whether to wait a little for the server's word on whether what is stored is still its file: a reader that began with
  /// the old one would get no more than what is here of it.
  private mutating func awaitsConfirmation(_ reader: Reader, _ download: Download) -> Bool {
    guard download.isWanted, !download.isConfirmed, let open = download.openFiles, !open.isComplete,
      download.retry.until == nil
    else { return false }
    let deadline = reader.begun.adding(5)
    if deadline <= now.instant { return false }
    timers.add(.download(download.key), at: deadline)
    return true
  }

  /// Readers without a generation get the one that has begun.
  mutating func adoptGeneration(_ download: inout Download) {
    for index in download.readers.indices
    where download.readers[index].generation == nil && !download.readers[index].isOpening {
      download.readers[index].generation = download.record.generation
      sendOpened(index, &download)
    }
  }

  private mutating func answerWaits(_ index: Int, _ download: inout Download) {
    let reader = download.readers[index]
    let isGone = reader.generation != nil && download.files == nil && download.content == .nothing
    let isStale = reader.generation ?? download.record.generation != download.record.generation || isGone
    let failure = isGone ? .gone : isStale ? .changed : self.failure(of: download)
    for wait in reader.waits {
      let name = ClientNumber(client: reader.name.client, id: wait.id)
      if !isStale, let open = download.openFiles, open.shows(wait.range) {
        answer(name)
      } else if let failure = failure ?? refusal(of: download, since: wait.begun) {
        answer(name, failure)
      } else {
        continue
      }
      download.readers[index].waits.removeAll { $0.id == wait.id }
    }
  }

  /// Why no byte will come; nil while one may.
  private func failure(of download: Download) -> TransferFailure? {
    // Forgotten.
    if download.record.request.url.isEmpty && download.content == .nothing { return .gone }
    return download.demand == .failed && download.content != .whole
      ? .lasting(download.record.error ?? "failed") : nil
  }

  /// Why an open that was to download has nothing to wait for any more.
  private func cancellation(of download: Download) -> TransferFailure? {
    download.state == .remote ? .lasting("the download was cancelled") : nil
  }

  /// Why a reader has nothing to wait for: its server has told a long Retry-After; or, since `begun` or a moment before, the
  /// disk had no room; or the host could not be reached at all, or sent no audio, and nothing of the episode is here.
  private func refusal(of download: Download, since begun: Instant) -> TransferFailure? {
    // Its server wants to be left alone for longer than a reader waits.
    if download.fetches.isEmpty, download.mayFetch, let end = download.retry.forbiddenUntil,
      end > now.instant.adding(Double(settings.readTimeout) / 1000)
    {
      return .lasting(download.record.error ?? "\(download.source.named) asks to be left alone")
    }
    guard let refusal = download.retry.refusal, download.received == 0 || download.retry.lacksRoom else {
      return nil
    }
    return refusal.at >= begun || download.retry.isRefusing(now.instant) ? refusal.failure : nil
  }
}
