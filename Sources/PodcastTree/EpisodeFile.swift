internal import PosixKit
internal import TransferProtocol

/// An open episode.
final class EpisodeFile: OpenFile {
  private let episode: any OpenEpisode
  let isDirect: Bool
  private let onClose: @Sendable () -> Void
  /// The last failure and until when it is repeated: the kernel asks again in 4 KiB pieces for what failed.
  private let failure = Monitor<(errno: Errno, until: MonotonicTime)?>(nil)

  /// - Parameter isDirect: the reads of a handle that may not fetch go on to the true end, whatever st_size
  ///   says.
  init(_ episode: any OpenEpisode, isDirect: Bool, onClose: @escaping @Sendable () -> Void) {
    self.episode = episode
    self.isDirect = isDirect
    self.onClose = onClose
  }

  var keepsCache: Bool { !isDirect }
  var size: Int64? { episode.size }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    if let count = episode.readCached(at: offset, into: buffer) { return .success(count) }
    let recent = failure.withLock { failure in failure.flatMap { $0.until > .now ? $0.errno : nil } }
    return recent.map { .failure($0) }
  }

  func whenReadable(
    at offset: Int64, count: Int, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    let waiting = episode.whenAvailable(at: offset, count: count) { [failure] reason in
      if let reason, reason.errno != .EINTR {
        failure.withLock { $0 = (reason.errno, .after(1)) }
      }
      completion(reason?.errno)
    }
    return { waiting.cancel() }
  }

  func close() {
    episode.close()
    onClose()
  }
}
