internal import Configuration
internal import EpisodeCache
internal import Glibc
package import PodcastModel
package import PosixKit
package import TransferProtocol

/// What a check of a cached episode's bytes against their checksums has found.
package struct VerifiedEpisode: Sendable {
  package var status: TransferStatus
  /// What is not as it was written, or can't be read.
  package var damaged: [Range<Int64>]
  /// Bytes that agree, and bytes that have no checksum.
  package var sound: Int64
  package var unsummed: Int64
}

extension TransferClient {
  /// Reads all that is cached of an episode; nil where nothing is.
  /// - Throws: `PosixError` where it can't be opened.
  package func verify(_ status: TransferStatus) throws -> VerifiedEpisode? {
    guard status.generation > 0 else { return nil }
    do {
      let check = try GenerationCheck(layout, status.key, status.generation)
      return VerifiedEpisode(
        status: status, damaged: check.damaged, sound: check.sound, unsummed: check.unsummed)
    } catch {
      if error.errno == .ENOENT { return nil }
      throw error
    }
  }

  /// Opens the data file of a complete download.
  package func openWhole(_ status: TransferStatus) throws(PosixError) -> FileDescriptor {
    try FileDescriptor(openingRegular: layout.data(status.key, status.generation), O_RDONLY)
  }

  /// What the server has told of the bytes that are here.
  package func representation(of status: TransferStatus) -> Representation? {
    RangeJournal(reading: layout.journal(status.key, status.generation)).representation
  }

  package var failure: String? { told.withLock { $0.failure } }

  /// Why no daemon serves; nil while one does, or none was needed and the last one could begin.
  package var daemonFailure: String? {
    failure
      ?? DaemonPlace.failure(in: places.state).map { "the transfer daemon cannot start: \($0)" }
  }
}
