package import Catalog
package import PodcastModel

/// What a synchronization does about episodes.
package struct EpisodePlan: Sendable {
  package var notes: [(episode: Int64, ExchangedState)] = []
  package var applied: [(episode: ListenedEpisode, ListeningState, ExchangedState)] = []
  package var uploads: [(episode: ListenedEpisode, ExchangedState)] = []
  /// Of episodes or podcasts that are not known.
  package var awaited: [EpisodeReport] = []

  package init() {}

  /// - Parameters:
  ///   - matched: the server's reports of known episodes.
  ///   - episodes: those, and those whose state the server does not have.
  ///   - margin: how many seconds before the end count as the end.
  ///   - isWhole: the server has no other reports than those that were read.
  package init(
    _ matched: [Int64: EpisodeReport], _ episodes: [ListenedEpisode], clock: SyncClock, margin: Int,
    isWhole: Bool = false
  ) {
    for episode in episodes {
      let report = matched[episode.id]
      switch EpisodeDecision(episode, report, clock: clock, margin: margin, isWhole: isWhole) {
      case .nothing: break
      case .note(let state): if state != episode.exchanged { notes.append((episode.id, state)) }
      case .apply(let state, let exchanged): applied.append((episode, state, exchanged))
      case .upload(let state): uploads.append((episode, state))
      }
    }
  }
}

/// Finds the episodes that reports are of.
package struct ReportMatching {
  /// The best report of each episode.
  package private(set) var matched: [Int64: EpisodeReport] = [:]
  package private(set) var awaited: [EpisodeReport] = []

  /// - Parameters:
  ///   - feeds: podcasts that are followed, by the keys of their addresses, those among them that the server writes.
  ///   - lookup: finds episodes in one podcast.
  package init(
    _ reports: [EpisodeReport], feeds: [String: Int64], lookup: (Int64) throws -> EpisodeLookup
  ) rethrows {
    var lookups: [Int64: EpisodeLookup] = [:]
    var keys: [WebAddress: Int64?] = [:]
    for report in reports {
      let podcast: Int64?
      if let known = keys[report.podcast] {
        podcast = known
      } else {
        podcast = feeds[FeedKey.text(report.podcast)]
        keys[report.podcast] = .some(podcast)
      }
      guard let podcast else {
        awaited.append(report)
        continue
      }
      var found = try lookups[podcast] ?? lookup(podcast)
      let episode = found.episode(guid: report.guid, address: report.address)
      lookups[podcast] = found
      if let episode {
        if matched[episode].map(report.isBetter) ?? true { matched[episode] = report }
      } else {
        awaited.append(report)
      }
    }
  }
}
