internal import EpisodeCache
internal import PodcastModel
internal import TransferEngine
internal import TransferProtocol

// What the engine asks of the cache's folder.
extension CacheLayout {
  /// Lets go of the least recently read of `candidates` that nobody has open, until `count` bytes are free.
  func evict(_ candidates: [EvictionCandidate], count: Int64) -> [GenerationName] {
    let known = candidates.compactMap { candidate in
      lastRead(candidate.key, candidate.generation).map { (candidate, read: $0) }
    }
    var evicted: [GenerationName] = []
    var left = count
    for (candidate, _) in known.sorted(by: { $0.read < $1.read }) where left > 0 {
      guard evict(candidate.key, candidate.generation) else { continue }
      evicted.append(GenerationName(key: candidate.key, generation: candidate.generation))
      left -= candidate.size
    }
    return evicted
  }

  /// Which of these have no data file, and how long those of the others are.
  func look(for names: [GenerationName]) -> Event {
    let found = names.map { ($0.key, length($0.key, $0.generation)) }
    let lengths = found.compactMap { key, length in length.map { (key, $0) } }
    return .missing(
      found.compactMap { $1 == nil ? $0 : nil }, lengths: Dictionary(lengths) { first, _ in first })
  }

  /// - Parameter records: what the journals tell of those that the engine did not know.
  func foundFiles(_ records: [TransferRecord]) -> [FoundFile] {
    let records = Dictionary(records.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    return generations().flatMap { key, generations in
      generations.map { number in
        FoundFile(
          key: key, generation: number, written: lastWritten(key, number) ?? 0, length: length(key, number),
          record: records[key].flatMap { $0.generation == number ? $0 : nil })
      }
    }
  }
}
