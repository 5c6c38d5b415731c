/// The order of podcasts that match the same words, the best first: by Podcast Index's score, whether Apple lists it, how
/// new its newest episode is, how many years it has run, how many episodes it has. The dead and the duplicates are last.
enum Rank {
  private static let day: Int64 = 86_400

  /// - Parameter now: in seconds since 1970.
  /// - Returns: a number that is smaller for a better one.
  static func key(_ record: DumpRecord, now: Int64) -> Int64 {
    // A date of the future is a mistake.
    let newest = record.newest > now + day ? 0 : record.newest
    let age = now - newest
    let staleness: Int64 = age <= 90 * day ? 0 : age <= 730 * day ? 1 : 2
    let years = newest > 0 && record.oldest > 0 ? min(max(newest - record.oldest, 0) / (365 * day), 20) : 0
    var key: Int64 = record.isLate ? 1 : 0
    key = key << 4 | (9 - record.score)
    key = key << 1 | (record.apple > 0 ? 0 : 1)
    key = key << 2 | staleness
    key = key << 5 | (20 - years)
    return key << 10 | (999 - min(record.episodes, 999))
  }
}

/// The titles that were written already, each with its host. The second podcast of one title at one host repeats the first.
struct SeenTitles {
  /// Hash values; 0 where there is none. A set of the standard library would take twice the memory.
  private var slots: [UInt64]

  /// - Parameter count: how many come.
  init(count: Int) {
    var size = 1024
    while size * 2 < count * 3 { size *= 2 }
    slots = Array(repeating: 0, count: size)
  }

  /// - Returns: whether it is new.
  mutating func insert(_ title: String, _ host: String) -> Bool {
    var hasher = Hasher()
    hasher.combine(title)
    hasher.combine(host)
    let hash = UInt64(bitPattern: Int64(hasher.finalize())) | 1
    var place = Int(hash >> 1) & (slots.count - 1)
    while slots[place] != 0 {
      if slots[place] == hash { return false }
      place = (place + 1) & (slots.count - 1)
    }
    slots[place] = hash
    return true
  }
}
