internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  mutating func answerReaders(of download: inout Download) {
    for index in download.readers.indices {
      if download.readers[index].isOpening { answerOpen(index, &download) }
      answerWaits(index, &download)
    }
  }

  private mutating func answerOpen(_ index: Int, _ download: inout Download) {
    let reader = download.readers[index]
    if reader.intent == .download && reader.generation == nil {
      let isSizeKnown = download.record.total != nil || download.hasNoLength
      if !isSizeKnown || download.openFiles?.undescribed != 0 || awaitsConfirmation(reader, download) {
        let cancelled =
          download.state == .remote ? TransferFailure.lasting("the download was cancelled") : nil
        guard let failure = failure(of: download, since: reader.begun) ?? cancelled else { return }
        download.readers[index].isOpening = false
        return answer(reader.name, failure)
      }
    }
    // What is stored may be on its way to be opened.
    if download.files != nil && download.openFiles == nil { return }
    sendOpened(index, &download, generation: download.openFiles == nil ? nil : download.record.generation)
  }

  /// A reader that reads what came before keeps its generation.
  private mutating func sendOpened(_ index: Int, _ download: inout Download, generation: UInt32?) {
    download.readers[index].isOpening = false
    download.readers[index].generation = download.readers[index].generation ?? generation
    answer(download.readers[index].name, generation: download.readers[index].generation ?? 0)
  }

  /// Whether to wait a little for the server's word that what is stored is still its file.
  private mutating func awaitsConfirmation(_ reader: Reader, _ download: Download) -> Bool {
    return download.isWanted && !download.isConfirmed && download.openFiles?.isComplete == false
      && download.retry.until == nil && !isPast(reader.begun.adding(5), for: download.key)
  }

  /// Readers without a generation get the one that has begun.
  mutating func adoptGeneration(_ download: inout Download) {
    for (index, reader) in download.readers.enumerated() where reader.generation == nil && !reader.isOpening {
      sendOpened(index, &download, generation: download.record.generation)
    }
  }

  private mutating func answerWaits(_ index: Int, _ download: inout Download) {
    let reader = download.readers[index]
    let isGone = reader.generation != nil && download.files == nil && download.content == .nothing
    let isStale = reader.generation ?? download.record.generation != download.record.generation
    for wait in reader.waits {
      let name = ClientNumber(client: reader.name.client, id: wait.id)
      if !isGone && !isStale, download.openFiles?.shows(wait.range) == true {
        answer(name)
      } else if let failure = isGone ? .gone : isStale ? .changed : failure(of: download, since: wait.begun) {
        answer(name, failure)
      } else {
        continue
      }
      download.readers[index].waits.removeAll { $0.id == wait.id }
    }
  }

  /// Why a reader has nothing to wait for. A refusal counts since `begun`, or if it is recent: the disk had no room,
  /// or nothing is here and the host could not be reached or sent no audio.
  private func failure(of download: Download, since begun: Instant) -> TransferFailure? {
    let retry = download.retry
    if download.record.request.url.isEmpty && download.content == .nothing { return .gone }
    if download.demand == .failed && download.content != .whole {
      return .lasting(download.record.error ?? "failed")
    }
    if download.fetches.isEmpty, download.mayFetch, let end = retry.forbiddenUntil,
      end > now.instant.adding(Double(settings.readTimeout) / 1000)
    {
      return .lasting(download.record.error ?? "\(download.source.named) asks to be left alone")
    }
    guard let refusal = retry.refusal, download.received == 0 || retry.lacksRoom else { return nil }
    return refusal.at >= begun || retry.isRefusing(now.instant) ? refusal.failure : nil
  }
}
