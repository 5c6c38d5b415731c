internal import PodcastModel
internal import PosixKit

/// Episodes as a whole, those that were asked for last: programs ask for one attribute after the other.
final class EpisodeDetails: Sendable {
  /// An episode with its podcast; of its notes only as much as attributes show.
  struct Detail: Sendable {
    let entry: EpisodeEntry
    /// The attributes that do not depend on its download.
    let facts: AttributeList
  }
  private struct State {
    var details: [Int64: Detail] = [:]
    var order: [Int64] = []
    var next = 0
    /// The last one that was asked for and not here.
    var lastRead: Int64 = 0
  }
  private let state = Monitor(State())
  private static let limit = 256
  /// Who asks for one after the other, in any order, gets so many read at once.
  private static let block: Int64 = 16
  /// In bytes.
  private static let commentLength = 400

  static func detail(_ entry: EpisodeEntry) -> Detail {
    var entry = entry
    let comment = entry.episode.notes.map { PlainText.oneLine($0).cut(toBytes: commentLength) }
    entry.episode.notes = nil
    return Detail(entry: entry, facts: EpisodeAttributes.facts(of: entry, comment: comment))
  }

  /// Which are to be read where this one is asked for: those beside it too, where another one near was asked for last. All
  /// are of its podcast, whose numbers begin with a multiple of a block.
  func toRead(with id: Int64) -> (first: Int64, count: Int) {
    let isNear = state.withLock { state in
      defer { state.lastRead = id }
      return abs(id - state.lastRead) <= 2 * Self.block
    }
    return isNear ? (id / Self.block * Self.block, Int(Self.block)) : (id, 1)
  }

  func find(_ id: Int64) -> Detail? { state.withLock { $0.details[id] } }

  func store(_ detail: Detail) {
    let id = detail.entry.episode.id
    state.withLock { state in
      if state.details.updateValue(detail, forKey: id) != nil { return }
      if state.order.count < Self.limit {
        state.order.append(id)
      } else {
        state.details[state.order[state.next]] = nil
        state.order[state.next] = id
        state.next = (state.next + 1) % Self.limit
      }
    }
  }

  /// The catalogue has something else to say of it.
  func forget(_ id: Int64) {
    state.withLock { state in
      guard state.details.removeValue(forKey: id) != nil, let place = state.order.firstIndex(of: id) else {
        return
      }
      state.order.remove(at: place)
      state.next = state.order.isEmpty ? 0 : state.next % state.order.count
    }
  }

  func forget(podcast: Int64) {
    let ids = state.withLock { state in
      state.details.keys.filter { PodcastTree.podcast(ofEpisode: $0) == podcast }
    }
    for id in ids { forget(id) }
  }
}
