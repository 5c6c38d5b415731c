internal import PodcastModel
internal import TransferProtocol

/// Who waits to be sent by the same host, in the order in which they were asked for.
struct WaitingLine {
  /// The host that is asked, and the one that is known to send, where that is another.
  struct Name: Hashable {
    var host: String
    var sender: String?
  }

  struct Rank: Comparable {
    /// Who had a slot and brought next to nothing comes behind all others: of enough such hosts one is always due.
    var crawls: Bool
    var order: Int64
    var key: MediaKey

    static func < (a: Rank, b: Rank) -> Bool {
      a.crawls == b.crawls ? (a.order, a.key) < (b.order, b.key) : b.crawls
    }
  }

  /// Where a download stands.
  struct Place: Equatable {
    var line: Name
    var rank: Rank

    init(_ download: Download) {
      line = Name(host: download.host, sender: download.sender)
      rank = Rank(crawls: download.crawls, order: download.record.order, key: download.key)
    }
  }

  private(set) var members: [(rank: Rank, download: Download)] = []

  var isEmpty: Bool { members.isEmpty }

  /// The first from `index` on that may be tried by now, and where it is.
  func next(from index: Int, at now: Instant) -> (index: Int, rank: Rank, download: Download)? {
    var index = index
    while index < members.count {
      let (rank, download) = members[index]
      if download.retryAt.map({ $0 <= now }) ?? true { return (index, rank, download) }
      index += 1
    }
    return nil
  }

  mutating func insert(_ rank: Rank, _ download: Download) {
    members.insert((rank, download), at: index(of: rank))
  }

  mutating func remove(_ rank: Rank) {
    let index = index(of: rank)
    if index < members.count, members[index].rank == rank { members.remove(at: index) }
  }

  /// Where `rank` is, or would be.
  private func index(of rank: Rank) -> Int {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].rank < rank { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
