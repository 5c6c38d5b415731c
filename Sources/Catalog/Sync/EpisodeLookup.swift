internal import Identity
package import PodcastModel
internal import SQLiteKit

/// Finds the episode that another device means, within one podcast: by its guid, else by its enclosure's address as the
/// identity of episodes compares it (`StableAddress`). Never by its title.
package struct EpisodeLookup {
  private let byGuid: [String: [Int64]]
  private let byAddress: [String: Int64]
  /// Made when an address is met that is written otherwise.
  private lazy var byStableAddress: [String: Int64] = Dictionary(
    byAddress.map { (StableAddress.text(WebAddress($0.key)), $0.value) }, uniquingKeysWith: min)

  package init(_ episodes: [(id: Int64, guid: String?, address: WebAddress)]) {
    byGuid = Dictionary(grouping: episodes.filter { $0.guid != nil }) { $0.guid ?? "" }
      .mapValues { $0.map(\.id) }
    byAddress = Dictionary(
      episodes.map { ($0.address.forRequest, $0.id) }, uniquingKeysWith: min)
  }

  package mutating func episode(guid: String?, address: WebAddress) -> Int64? {
    let named = guid.flatMap { byGuid[$0] } ?? []
    if named.count == 1 { return named[0] }
    let found = byAddress[address.forRequest] ?? byStableAddress[StableAddress.text(address)]
    // Where several have the guid, the address says which; where it says none of them, the first.
    return named.isEmpty || found.map(named.contains) == true ? found : named.min()
  }
}

extension EpisodeLookup {
  init(podcast: Int64, in database: Database) throws {
    self.init(
      try database.all(
        "SELECT id, guid, enclosure_url FROM episode WHERE id BETWEEN ? AND ?",
        EpisodeID.first(ofPodcast: podcast), EpisodeID.last(ofPodcast: podcast)
      ) { ($0.int64(0), $0.stringIfPresent(1), WebAddress($0.string(2))) })
  }
}

extension SyncRows {
  package func lookup(inPodcast podcast: Int64) throws -> EpisodeLookup {
    try EpisodeLookup(podcast: podcast, in: database)
  }
}
