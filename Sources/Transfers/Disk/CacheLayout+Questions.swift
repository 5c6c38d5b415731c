internal import EpisodeCache
internal import PodcastModel
internal import TransferEngine

// What the engine asks of the cache's folder.
extension CacheLayout {
  /// Lets go of the least recently read of `candidates` that nobody has open, until `count` bytes are free.
  func evict(_ candidates: [GenerationName], count: Int64) -> [GenerationName] {
    // What somebody has deleted goes first.
    let known = candidates.map { ($0, read: lastRead($0.key, $0.generation) ?? 0) }
    var evicted: [GenerationName] = []
    var left = count
    for (candidate, _) in known.sorted(by: { $0.read < $1.read }) where left > 0 {
      guard evict(candidate.key, candidate.generation) else { continue }
      evicted.append(GenerationName(key: candidate.key, generation: candidate.generation))
      left -= candidate.size
    }
    return evicted
  }

  /// Data files of episodes that the store, which knows `known`, does not know as they are here; and of `known` some whose
  /// files have gone.
  func foundFiles(besides known: [GenerationName]) -> Event {
    let found = sweep()
    let names = Set(found.lazy.map { GenerationName(key: $0.key, generation: $0.generation) })
    let missing = known.lazy.map { GenerationName(key: $0.key, generation: $0.generation) }
      .filter { !names.contains($0) }
    let generations = Dictionary(known.map { ($0.key, $0.generation) }, uniquingKeysWith: { _, last in last })
    let odd = Set(found.lazy.filter { generations[$0.key] != $0.generation }.map(\.key))
    return .found(found.filter { odd.contains($0.key) }, missing: Array(missing.prefix(Self.mostMissing)))
  }

  /// What is forgotten at once of a cache that was deleted. The others are noticed when they are used.
  private static let mostMissing = 1000
}
