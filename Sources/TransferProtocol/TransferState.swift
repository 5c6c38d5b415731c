package import PodcastModel

/// Where an episode's download stands: the attribute `user.podcastfs.state`.
package enum TransferState: String, BinaryValue, CaseIterable {
  /// Nobody wants it; what came before may still be here.
  case remote
  /// Wanted, and waiting for its turn or its next try.
  case queued
  case downloading
  /// Held by the user, with what has come.
  case paused
  /// It can't be had; `error` says why.
  case failed
  case cached

  /// What changes within one of these moves no episode from one folder to another.
  package var stage: DownloadStage {
    switch self {
    case .remote: .absent
    case .queued, .downloading: .running
    case .paused: .paused
    case .failed: .failed
    case .cached: .complete
    }
  }

  package var name: String { rawValue }
}
