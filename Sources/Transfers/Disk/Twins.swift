package import EpisodeCache
package import PodcastModel
internal import PosixKit
package import TransferEngine
package import TransferProtocol

/// Which whole episodes may be the same audio under several addresses. Each one's journal is read once: when it has become
/// whole, or, where it was before, when another of its size has.
package final class Twins: Sendable {
  private struct State: ~Copyable {
    var marks: [MediaKey: (generation: UInt32, mark: AudioMark)] = [:]
    var names: [AudioMark: [GenerationName]] = [:]
    /// Of those whose journals have not been read, by size.
    var unread: [Int64: [GenerationName]] = [:]
  }
  private let state = Monitor(State())
  private let read: @Sendable (GenerationName) -> AudioMark?

  /// Journals that are read before others get their turn.
  package static let batch = 64
  /// Of more that have the same mark, others are the same audio already.
  private static let mostCandidates = 8

  /// - Parameter read: what a generation's journal says; nil where it is not whole.
  package init(read: @escaping @Sendable (GenerationName) -> AudioMark?) { self.read = read }

  package convenience init(_ layout: CacheLayout) {
    self.init { RangeJournal(reading: layout.journal($0.key, $0.generation)).mark }
  }

  /// These were here before; those among them that are not whole do not count.
  package func expect(_ records: [TransferRecord]) {
    state.withLock { state in
      for record in records where record.state == .cached {
        guard let total = record.total else { continue }
        state.unread[total, default: []].append(
          GenerationName(key: record.key, generation: record.generation))
      }
    }
  }

  /// The files of a generation have gone.
  package func forget(_ key: MediaKey, _ generation: UInt32) {
    state.withLock { state in
      guard let known = state.marks[key], known.generation <= generation else { return }
      state.marks[key] = nil
      state.names[known.mark]?.removeAll { $0.key == key }
      if state.names[known.mark]?.isEmpty == true { state.names[known.mark] = nil }
    }
  }

  /// Reads what is to be read of a whole episode, and of a batch of those of its size. For one caller at a time.
  /// - Returns: who may be the same, the latest first; nil where it is to be called again.
  package func candidates(for name: GenerationName) -> [GenerationName]? {
    guard let mark = mark(of: name) else { return [] }
    let (batch, isLast) = state.withLock { state in
      let unread = state.unread[mark.total] ?? []
      let rest = unread.dropLast(Self.batch)
      state.unread[mark.total] = rest.isEmpty ? nil : Array(rest)
      return (unread.suffix(Self.batch), rest.isEmpty)
    }
    for other in batch where !isKnown(other.key) { _ = self.mark(of: other) }
    if !isLast { return nil }
    return state.withLock { state in
      (state.names[mark] ?? []).suffix(Self.mostCandidates + 1).filter { $0.key != name.key }.reversed()
    }
  }

  /// Has a whole episode keep the bytes of another one that is the same; beside all else, and before long.
  func share(_ name: GenerationName, in layout: CacheLayout, on disk: DiskPool) {
    disk.run(.twins) {
      guard let candidates = self.candidates(for: name) else { return self.share(name, in: layout, on: disk) }
      if candidates.isEmpty { return }
      disk.run(.files(name.key)) {
        for twin in candidates {
          if (try? layout.share(name.key, name.generation, with: twin.key, twin.generation)) == true {
            return
          }
          if !layout.hasData(twin.key, twin.generation) { self.forget(twin.key, twin.generation) }
        }
      }
    }
  }

  private func isKnown(_ key: MediaKey) -> Bool { state.withLock { $0.marks[key] != nil } }

  private func mark(of name: GenerationName) -> AudioMark? {
    let known = state.withLock { $0.marks[name.key] }
    if let known, known.generation >= name.generation {
      return known.generation == name.generation ? known.mark : nil
    }
    forget(name.key, name.generation)
    guard let mark = read(name) else { return nil }
    state.withLock { state in
      state.marks[name.key] = (name.generation, mark)
      state.names[mark, default: []].append(name)
    }
    return mark
  }
}
