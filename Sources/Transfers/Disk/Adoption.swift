internal import EpisodeCache
internal import PodcastModel
internal import TransferProtocol

/// Makes records of what the cache holds, by its journals alone: for a store that was lost, has lost some, or is an older
/// copy.
enum Adoption {
  /// The latest generations of the episodes that are not among `known`, oldest first.
  static func records(of layout: CacheLayout, besides known: Set<MediaKey> = []) -> [TransferRecord] {
    var found: [(record: TransferRecord, written: Int64)] = []
    for stored in layout.storedGenerations(where: { !known.contains($0) }) {
      // Begun and never filled: nothing is lost with it, but for who opened it a moment ago.
      let written = layout.lastWritten(stored.key, stored.number) ?? 0
      found.append((record(of: stored), written))
    }
    return found.sorted { ($0.written, $0.record.key) < ($1.written, $1.record.key) }.map(\.record)
  }

  /// What the journals know of `known`.
  struct Comparison {
    /// Those of which they know more, as they do.
    var corrected: [TransferRecord] = []
    /// Those of which they have not heard the latest: a daemon was killed before it told them.
    var untold: Set<MediaKey> = []
  }

  static func comparison(of known: [TransferRecord], with layout: CacheLayout) -> Comparison {
    let known = Dictionary(known.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    var comparison = Comparison()
    for stored in layout.storedGenerations(where: { known[$0] != nil }) {
      guard let before = known[stored.key] else { continue }
      var record = before
      record.catchUp(with: stored)
      if record != before { comparison.corrected.append(record) }
      // Journals of the first version have no note: they are told when they are next written to.
      let noted = TransferRecord(key: stored.key, note: stored.journal.note)
      if let noted, !noted.hasSameNote(as: record) { comparison.untold.insert(stored.key) }
    }
    comparison.corrected.sort { $0.key < $1.key }
    return comparison
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

extension TransferRecord {
  /// Takes over what a journal knows and the record does not: the latest orders, and what has come since.
  fileprivate mutating func catchUp(with stored: StoredGeneration) {
    // What has been dropped is not here again because its files are still there; what was forgotten is to go.
    guard !isForgotten, let noted = TransferRecord(key: key, note: stored.journal.note) else { return }
    let age = take(noted)
    let received = stored.journal.durable.count
    guard age != .older, stored.number >= generation else {
      // A copy of before is in its place.
      if state == .cached && stored.number == generation && !stored.isComplete {
        (state, self.received) = (.remote, received)
      }
      return
    }
    let isLater = stored.number > generation
    if isLater {
      (generation, total, self.received) = (stored.number, stored.journal.representation?.total, received)
    } else if state != .downloading {
      // What was running is looked at before it goes on.
      self.received = max(self.received, received)
      total = total ?? stored.journal.representation?.total
    }
    if stored.isComplete {
      // What is to come is looked at, too: the disk may have lost some.
      if isUnfinished { return }
      state = .cached
      forgive()
    } else if state == .cached && (isLater || age == .newer) {
      state = .remote
    }
  }
}
