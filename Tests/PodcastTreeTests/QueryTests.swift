import PodcastModel
import TestSupport
import Testing
import TransferProtocol

@testable import PodcastTree

@Suite struct QueryTests {
  private func row(
    _ id: Int64, podcast name: String = "Harbour", published: Int64 = 0, isFollowed: Bool = true
  ) -> Query.Row {
    let address = WebAddress("http://media.example/\(id).mp3")
    let record = Podcast(id: id >> 20, feedURL: "http://feeds.example/", title: name, name: name)
    let episode = Episode(
      id: id, podcastID: id >> 20, mediaKey: MediaKey(address: address), stem: "2024-01-01 - One",
      fileExtension: ".mp3", title: "One", published: published, enclosureURL: address)
    return Query.Row(
      episode: ListedEpisode(episode, of: record, []), podcastName: name, isFollowed: isFollowed,
      stage: .underWay)
  }

  /// Their podcasts' names may differ only behind the place where they are cut.
  @Test func `Episodes of the same name are numbered`() throws {
    let (first, second) = (row(1 << 20 | 1), row(2 << 20 | 1))
    var result = QueryResult(.downloading, name: "Downloading")
    _ = result.update(first.episode.id, to: first)
    let name = try #require(result.name(of: first.episode.id))
    #expect(name.hasSuffix(" - One.mp3"))
    _ = result.update(second.episode.id, to: second)
    #expect(result.name(of: second.episode.id) == name.dropLast(4) + " (2).mp3")
    _ = result.update(first.episode.id, to: first)
    #expect(result.name(of: first.episode.id) == name && result.count == 2)
    _ = result.update(first.episode.id, to: nil)
    _ = result.update(second.episode.id, to: nil)
    _ = result.update(second.episode.id, to: second)
    #expect(result.name(of: second.episode.id) == name)
  }

  /// Rows come, change and go at random; a query that is run anew each time says what is right.
  @Test(arguments: 1...20) func `A limited query shows what a query of all rows would`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = Int.random(in: 0...6, using: &random)
    let query = Query.latest(limit)
    var all: [Int64: Query.Row] = [:]
    func newest() -> [Query.Row] {
      let selected = all.values.filter(query.selects).sorted {
        ($0.episode.modified, $0.episode.id) > ($1.episode.modified, $1.episode.id)
      }
      return Array(selected.prefix(query.capacity))
    }
    var result = QueryResult(query, name: "Latest", [])
    for _ in 0..<500 {
      let id = Int64.random(in: 1...30, using: &random) << 20
      let isGone = Int.random(in: 0..<3, using: &random) == 0
      all[id] =
        isGone
        ? nil
        : row(
          id, published: Int64.random(in: 0...9, using: &random),
          isFollowed: Bool.random(using: &random))
      let before = Set(result.shown.map(\.episode.id))
      let other = result.update(id, to: all[id])
      let after = Set(result.shown.map(\.episode.id))
      #expect(
        before.symmetricDifference(after).subtracting([id]) == Set([other?.episode.id].compactMap(\.self)))
      if result.isShort { result = QueryResult(query, name: "Latest", newest()) }
      #expect(result.shown.map(\.episode.id) == newest().prefix(limit).map(\.episode.id), "seed \(seed)")
      #expect(Set(result.shown.compactMap { result.name(of: $0.episode.id) }).count == result.count)
    }
  }
}
