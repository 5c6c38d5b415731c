import Catalog
import PodcastModel
import TestSupport
import Testing
import TransferProtocol

@testable import PodcastTree

@Suite struct QueryTests {
  private func row(
    _ id: Int64, podcast name: String = "Harbour", title: String = "One", published: Int64 = 0,
    duration: Int? = nil, _ change: (inout EpisodeFacts) -> Void = { _ in }
  ) -> QueryResult.Row {
    let address = WebAddress("http://media.example/\(id).mp3")
    var record = Podcast()
    (record.id, record.feedURL, record.title, record.name) = (id >> 20, "http://feeds.example/", name, name)
    var episode = Episode()
    (episode.id, episode.podcastID, episode.mediaKey) = (id, id >> 20, MediaKey(address: address))
    (episode.stem, episode.fileExtension) = ("2024-01-01 - \(title)", ".mp3")
    (episode.title, episode.enclosureURL, episode.duration) = (title, address, duration)
    (episode.published, episode.modified) = (published, published)
    let listed = ListedEpisode(episode, of: record, [])
    var facts = listed.facts(show: name, folder: name)
    change(&facts)
    return QueryResult.Row(episode: listed, podcastName: name, facts: facts)
  }

  /// Their podcasts' names may differ only behind the place where they are cut.
  @Test func `Episodes of the same name are numbered`() throws {
    let (first, second) = (
      row(1 << 20 | 1) { $0.download = .running }, row(2 << 20 | 1) { $0.download = .running }
    )
    var result = QueryResult(.downloading)
    result.update(first.episode.id, from: nil, to: first, now: 0)
    let name = try #require(result.name(of: first.episode.id))
    #expect(name.hasSuffix(" - One.mp3"))
    result.update(second.episode.id, from: nil, to: second, now: 0)
    #expect(result.name(of: second.episode.id) == name.dropLast(4) + " (2).mp3")
    result.update(first.episode.id, from: nil, to: first, now: 0)
    #expect(result.name(of: first.episode.id) == name && result.count == 2)
    result.update(first.episode.id, from: nil, to: nil, now: 0)
    result.update(second.episode.id, from: nil, to: nil, now: 0)
    result.update(second.episode.id, from: nil, to: second, now: 0)
    #expect(result.name(of: second.episode.id) == name)
  }

  @Test func `Names in the queue begin with the place`() {
    var result = QueryResult(.queue)
    let first = row(1 << 20 | 1, podcast: String(repeating: "long ", count: 20)) { $0.queuePlace = 12 }
    result.update(first.episode.id, from: nil, to: first, now: 0)
    #expect(result.name(of: first.episode.id) == "012 - long long long long long long - One.mp3")
  }

  private static let queries = [
    "is:followed", "is:followed sort:oldest", "is:followed sort:title", "is:followed sort:shortest",
    "-is:followed",
    "shorter:5s", "newer:1970-01-02 older:1970-01-03 is:followed",
  ]

  /// Rows come, change and go at random; a query that is run anew each time says what is right.
  @Test(arguments: 1...30) func `A limited query shows what a query of all rows would`(_ seed: UInt64) throws
  {
    var random = SeededGenerator(seed: seed)
    let text = Self.queries[Int(seed) % Self.queries.count]
    var query = try #require(try EpisodeQuery(parsing: text))
    query.limit = Int.random(in: 0...6, using: &random)
    let limit = query.limit
    var all: [Int64: QueryResult.Row] = [:]
    func selected() -> [QueryResult.Row] {
      let rows = all.values.filter { query.matches($0.facts, now: 0) }
        .sorted { query.isOrdered($0.facts, before: $1.facts) }
      return Array(rows.prefix(limit))
    }
    var result = QueryResult(query, [], now: 0)
    for _ in 0..<500 {
      let id = Int64.random(in: 1...30, using: &random) << 20
      let old = all[id]
      let isGone = Int.random(in: 0..<3, using: &random) == 0
      all[id] =
        isGone
        ? nil
        : row(
          id, title: ["a", "B", "c"][Int.random(in: 0..<3, using: &random)],
          published: 86_400 + Int64.random(in: 0...9, using: &random),
          duration: Int.random(in: 0...9, using: &random)
        ) { $0.marks = Bool.random(using: &random) ? [.followed] : [] }
      result.update(id, from: old, to: all[id], now: 0)
      #expect(result.count <= limit)
      if result.isStale(now: 0) { result = QueryResult(query, selected(), now: 0) }
      #expect(Set(result.shown.map(\.episode.id)) == Set(selected().map(\.episode.id)), "seed \(seed)")
      #expect(Set(result.shown.compactMap { result.name(of: $0.episode.id) }).count == result.count)
    }
  }

  @Test func `The clock makes a result stale when it selects others`() throws {
    let query = try #require(try EpisodeQuery(parsing: "newer:1h"))
    let result = QueryResult(query, [row(1 << 20, published: 10_000) { _ in }], now: 10_000)
    #expect(!result.isStale(now: 13_600) && result.isStale(now: 13_601))
    let fed = try #require(try EpisodeQuery(parsing: "older:1h"))
    #expect(QueryResult(fed, [], now: 0).isStale(now: 60))
  }

  @Test func `A query of words is outdated when the index may find another episode`() throws {
    let query = try #require(try EpisodeQuery(parsing: "episode:fog is:unplayed"))
    let (one, two) = (row(1 << 20 | 1), row(1 << 20 | 2))
    let played = row(1 << 20 | 2) { $0.marks = [.played] }
    var result = QueryResult(query, [one], now: 0)
    result.update(two.episode.id, from: two, to: two, now: 0)
    result.update(two.episode.id, from: two, to: played, now: 0)
    #expect(!result.isStale(now: 0) && result.count == 1)
    result.update(two.episode.id, from: played, to: two, now: 0)
    #expect(result.isStale(now: 0) && result.count == 1)
  }
}
