internal import PosixKit
internal import TransferProtocol

/// An open episode.
final class EpisodeFile: OpenFile {
  private let episode: any OpenEpisode
  let isDirect: Bool
  private let onClose: @Sendable () -> Void
  /// The last failure and until when it is repeated: the kernel asks again in 4 KiB pieces for what failed.
  private let failure = Monitor<(errno: Errno, until: MonotonicTime)?>(nil)
  /// The size that was shown where the server gives none; nil where it is exact.
  private let shownSize: Int64?
  /// How far it has been read.
  private let furthest = Monitor<Int64>(0)

  /// - Parameters:
  ///   - isDirect: the reads of a handle that may not fetch go on to the true end, whatever st_size says.
  ///   - shownSize: see `shownSize`.
  init(
    _ episode: any OpenEpisode, isDirect: Bool, shownSize: Int64? = nil,
    onClose: @escaping @Sendable () -> Void
  ) {
    self.episode = episode
    self.isDirect = isDirect
    self.shownSize = shownSize
    self.onClose = onClose
  }

  var keepsCache: Bool { !isDirect }
  var size: Int64? { episode.size }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    if isMisled(at: offset) { return .failure(.EIO) }
    if let count = episode.readCached(at: offset, into: buffer) {
      if shownSize != nil { furthest.withLock { $0 = max($0, offset + Int64(count)) } }
      return .success(count)
    }
    let recent = failure.withLock { failure in failure.flatMap { $0.until > .now ? $0.errno : nil } }
    return recent.map { .failure($0) }
  }

  /// Whether a read is only for what the size that is shown promises: the tail of a file that is shorter than
  /// that (`tail`, a player that looks for a tag at the end). Nothing would be a wrong answer, and waiting for
  /// the true end would take as long as the whole download.
  private func isMisled(at offset: Int64) -> Bool {
    guard let shownSize else { return false }
    if let size = episode.size { return offset > size }
    return offset >= shownSize - 1 << 20 && offset > furthest.withLock { $0 } + 4 << 20
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
