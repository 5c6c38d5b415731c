package import Catalog
package import PodcastModel

/// What a synchronization does about one episode.
package enum EpisodeDecision: Hashable, Sendable {
  case nothing
  /// Both have the same: that is noted as exchanged.
  case note(ExchangedState)
  /// Another device's state is taken.
  case apply(ListeningState, ExchangedState)
  /// Ours is uploaded, with the time that it is stamped with.
  case upload(ExchangedState)

  /// - Parameters:
  ///   - report: the best one of the server's (`EpisodeReport.isBetter`), its time by the server's clock.
  ///   - margin: how many seconds before the end count as the end.
  ///   - isWhole: the server has no other reports than those that were read.
  package init(
    _ episode: ListenedEpisode, _ report: EpisodeReport?, clock: SyncClock, margin: Int,
    isWhole: Bool = false
  ) {
    let local = episode.listening
    var known = episode.exchanged
    if let time = known?.time { known?.time = clock.credible(time) }
    guard let report, report.time != ServerAction.noTime,
      let remote = report.listening(
        duration: episode.duration, margin: margin, time: clock.byUs(report.time))
    else {
      if Self.isChanged(episode) {
        self = .upload(Self.state(local, clock.servers, known))
      } else if isWhole || report != nil, var lost = known, lost.isPlayed || Self.seconds(lost.position) > 0 {
        // With its own time: a device that knows a later state does not take this one.
        if lost.time == 0 { lost.time = clock.servers }
        self = .upload(lost)
      } else {
        self = .nothing
      }
      return
    }
    let told = ExchangedState(position: remote.position, isPlayed: remote.isPlayed, time: report.time)
    if let known, told.time < known.time {
      // Nextcloud lets a late upload take the place of a newer one: what was exchanged is lost there.
      let isLost = !Self.isSame(local, remote)
      self = isLost || Self.isChanged(episode) ? .upload(Self.state(local, clock.servers, known)) : .nothing
      return
    }
    if let known, told.time == known.time, Self.isSame(told, known) {
      self = Self.isChanged(episode) ? .upload(Self.state(local, clock.servers, known)) : .nothing
      return
    }
    if Self.isSame(local, remote) {
      self = .note(ExchangedState(position: local.position, isPlayed: local.isPlayed, time: report.time))
    } else if Self.isChangedSince(known, local), let changed = local.changed,
      clock.byServer(changed) > report.time
    {
      self = .upload(Self.state(local, clock.servers, told))
    } else {
      self = .apply(remote, told)
    }
  }

  /// Whether the server is to be told though it has told nothing.
  private static func isChanged(_ episode: ListenedEpisode) -> Bool {
    let local = episode.listening
    guard episode.exchanged == nil else { return isChangedSince(episode.exchanged, local) }
    return local.changed != nil && (local.isPlayed || local.position > 0)
  }

  private static func isChangedSince(_ known: ExchangedState?, _ local: ListeningState) -> Bool {
    guard let known else { return local.changed != nil }
    return known.position != local.position || known.isPlayed != local.isPlayed
  }

  /// Stamped with the time of the upload, so that devices which ask for what is new hear of it; and later than what it
  /// takes the place of, whose clock may have been ahead.
  private static func state(
    _ local: ListeningState, _ now: Int64, _ before: ExchangedState?
  ) -> ExchangedState {
    ExchangedState(
      position: local.position, isPlayed: local.isPlayed, time: max(now, before.map { $0.time + 1 } ?? now))
  }

  private static func isSame(_ state: ListeningState, _ other: ListeningState) -> Bool {
    state.isPlayed == other.isPlayed && seconds(state.position) == seconds(other.position)
  }

  private static func isSame(_ state: ExchangedState, _ other: ExchangedState) -> Bool {
    state.isPlayed == other.isPlayed && seconds(state.position) == seconds(other.position)
  }

  /// Servers know whole seconds only, and the first one is the beginning (`ServerAction`).
  private static func seconds(_ position: Int64) -> Int64 { position < 2000 ? 0 : position / 1000 }
}
