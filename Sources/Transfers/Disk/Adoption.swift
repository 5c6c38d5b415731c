internal import EpisodeCache
internal import PodcastModel
internal import TransferProtocol

/// Makes records of what the cache holds, by its journals alone: for a store that was lost, or has lost some.
enum Adoption {
  /// The latest generations of the episodes that are not among `known`, oldest first.
  static func records(of layout: CacheLayout, besides known: Set<MediaKey> = []) -> [TransferRecord] {
    var found: [(record: TransferRecord, written: Int64)] = []
    for stored in layout.storedGenerations(besides: known) {
      // Begun and never filled: nothing is lost with it, but for who opened it a moment ago.
      let written = layout.lastWritten(stored.key, stored.number) ?? 0
      found.append((record(of: stored), written))
    }
    return found.sorted { ($0.written, $0.record.key) < ($1.written, $1.record.key) }.map(\.record)
  }

  private static func record(of stored: StoredGeneration) -> TransferRecord {
    let representation = stored.journal.representation
    // Journals of the first version have no note: who opens the episode tells its facts again.
    var record =
      TransferRecord(key: stored.key, note: stored.journal.note)
      ?? TransferRecord(
        request: TransferRequest(
          key: stored.key, url: representation?.finalURL ?? "", title: "", show: "", fileName: ""))
    record.generation = stored.number
    record.total = representation?.total
    record.received = stored.journal.durable.count
    if stored.isComplete { record.state = .cached }
    return record
  }
}
