internal import Catalog
internal import PodcastModel
internal import PosixKit

/// The episodes whose attributes were last asked for: programs ask for one attribute after the other.
final class EpisodeDetails: Sendable {
  /// An episode with its podcast; of its notes only as much as attributes show.
  struct Detail: Sendable {
    let entry: EpisodeEntry
    /// The attributes that do not depend on its download.
    let facts: AttributeList
  }
  private struct State {
    var details: [Int64: Detail] = [:]
    /// The last one that was not found here.
    var lastRead: Int64 = 0
  }
  private let state = Monitor(State())
  private static let limit = 256
  /// So many rows are read at once where a program goes from one episode to the next.
  private static let block: Int64 = 16
  /// In bytes.
  private static let commentLength = 400

  static func detail(_ entry: EpisodeEntry) -> Detail {
    var entry = entry
    let comment = entry.episode.notes.map { PlainText.oneLine($0).cut(toBytes: commentLength) }
    entry.episode.notes = nil
    return Detail(entry: entry, facts: EpisodeAttributes.facts(of: entry, comment: comment))
  }

  /// The rows to read for an episode: its whole block where the last one was near. A podcast's numbers begin with a
  /// multiple of a block.
  func toRead(with id: Int64) -> (first: Int64, count: Int) {
    let isNear = state.withLock { state in
      defer { state.lastRead = id }
      return abs(id - state.lastRead) <= 2 * Self.block
    }
    return isNear ? (id / Self.block * Self.block, Int(Self.block)) : (id, 1)
  }

  func find(_ id: Int64) -> Detail? { state.withLock { $0.details[id] } }

  func store(_ detail: Detail) {
    state.withLock { state in
      if state.details.count >= Self.limit { state.details = [:] }
      state.details[detail.entry.episode.id] = detail
    }
  }

  /// Its row has changed.
  func forget(_ id: Int64) { state.withLock { _ = $0.details.removeValue(forKey: id) } }

  func forget(podcast: Int64) {
    state.withLock { state in
      state.details = state.details.filter { EpisodeID.podcast(of: $0.key) != podcast }
    }
  }
}
