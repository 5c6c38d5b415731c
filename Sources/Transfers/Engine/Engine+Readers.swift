internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// Who waits.
extension Engine {
  /// Answers opens and waits that can be answered by now.
  func answerReaders(of download: Download) {
    for handle in download.handles {
      if handle.isOpening { answerOpen(of: handle, download) }
      if !handle.waits.isEmpty { answerWaits(of: handle, download) }
    }
  }

  private func answerOpen(of handle: ReaderHandle, _ download: Download) {
    let record = download.record
    if handle.intent == .download && handle.generation == nil {
      let isSizeKnown = record.total != nil || download.hasNoLength
      guard download.writer != nil && isSizeKnown && !awaitsConfirmation(handle, download) else {
        if let failure = failure(of: download) ?? cancellation(of: download) {
          handle.isOpening = false
          reply(.openFailed(id: handle.id, failure), to: handle.client)
        }
        return
      }
    }
    handle.isOpening = false
    if handle.generation == nil, download.writer != nil { handle.generation = record.generation }
    reply(.opened(id: handle.id, generation: handle.generation ?? 0, total: record.total), to: handle.client)
  }

  /// Whether to wait a little for the server's word on whether what is stored is still its file: a reader
  /// that began with the old one would get no more than what is here of it.
  private func awaitsConfirmation(_ handle: ReaderHandle, _ download: Download) -> Bool {
    guard download.isWanted, !download.isConfirmed, let writer = download.writer, !writer.isComplete,
      download.retryAt == nil, download.record.state != .paused
    else { return false }
    let deadline = handle.begun.adding(5)
    if deadline <= .now { return false }
    if !handle.hasDeadline {
      handle.hasDeadline = true
      loop.schedule(at: deadline) { self.touch(download) }
    }
    return true
  }

  /// Handles without a generation get the one that has begun.
  func adoptGeneration(_ download: Download) {
    for handle in download.handles where handle.generation == nil && !handle.isOpening {
      handle.generation = download.record.generation
      reply(
        .opened(id: handle.id, generation: download.record.generation, total: download.record.total),
        to: handle.client)
    }
  }

  private func answerWaits(of handle: ReaderHandle, _ download: Download) {
    let isStale =
      !handle.isCurrent(download.record.generation) || (handle.generation != nil && download.writer == nil)
    let failure =
      isStale
      ? TransferFailure(.ESTALE, "the server's file has changed") : self.failure(of: download)
    for (id, range) in handle.waits {
      if !isStale, let writer = download.writer, writer.shows(range) {
        handle.waits[id] = nil
        reply(.available(wait: id), to: handle.client)
      } else if let failure {
        handle.waits[id] = nil
        reply(.unavailable(wait: id, failure), to: handle.client)
      }
    }
  }

  /// Ends what readers wait for who only fetch what they read: nothing is remembered of it.
  func failWaits(of download: Download, _ failure: TransferFailure) {
    for handle in download.handles {
      for id in handle.waits.keys { reply(.unavailable(wait: id, failure), to: handle.client) }
      handle.waits = [:]
    }
  }

  /// Why no byte will come; nil while one may.
  private func failure(of download: Download) -> TransferFailure? {
    let record = download.record
    switch record.state {
    case .failed: return TransferFailure(.EIO, record.error ?? "failed")
    case .paused:
      return record.waitsForRoom ? TransferFailure(.ENOSPC, record.error ?? "no space left") : nil
    case .remote, .queued, .downloading, .cached: return nil
    }
  }

  /// Why an open that was to download has nothing to wait for any more.
  private func cancellation(of download: Download) -> TransferFailure? {
    download.record.state == .remote ? TransferFailure(.EIO, "the download was cancelled") : nil
  }

  /// The writer tells when something that is waited for has come.
  func setWanted(_ download: Download) {
    download.writer?.setWanted(download.handles.flatMap { Array($0.waits.values) })
  }
}

extension Download {
  /// What readers wait for that may be fetched for them.
  var fetchableWaits: [Range<Int64>] {
    if record.state == .failed || record.state == .paused { return [] }
    return handles.filter { $0.intent != .cachedOnly && $0.isCurrent(record.generation) }
      .flatMap { Array($0.waits.values) }
  }
}
