import Catalog
import Configuration
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Several processes share a catalogue and see each other's changes at once: here several catalogues of one
/// process, which know no more of each other.
@Suite struct ChangeTests {
  /// What a catalogue's observer has heard.
  private final class Heard: Sendable {
    private let changes = Monitor<[CatalogChange]>([])

    init(_ catalog: Catalog) {
      catalog.observeChanges { [changes] change in changes.withLockNotifying { $0.append(change) } }
    }

    func wait(for change: CatalogChange, seconds: Double = patience) -> Bool {
      changes.wait(until: .after(seconds)) { $0.contains(change) ? true : nil } ?? false
    }

    var count: Int { changes.withLock { $0.count } }
  }

  @Test func eachHearsOfWhatTheOthersAndItselfDo() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    let (here, there) = (Heard(world.catalog), Heard(other))
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    let search = try #require(try world.catalog.searches().first)
    for heard in [here, there] { #expect(heard.wait(for: .search(search.id))) }
    try world.refresh(podcast)
    for heard in [here, there] {
      #expect(heard.wait(for: .podcast(podcast)))
      #expect(heard.wait(for: .refreshed(podcast: podcast, newEpisodes: 1)))
    }
    let subscription = try other.subscribe(feedURL: "\(world.web.address)/feed").id
    for heard in [here, there] {
      #expect(heard.wait(for: .subscription(subscription, podcast: podcast)))
    }
    let episode = try #require(try world.catalog.episodes(ofPodcast: podcast).first)
    try world.catalog.setPlayed(true, episode: episode.id)
    for heard in [here, there] { #expect(heard.wait(for: .episode(episode.id))) }
    #expect(!here.wait(for: .everything, seconds: 0.2), "no commit was missed")
  }

  @Test func aCommitWithoutAMessageIsHeardOfWithTheNextMessage() throws {
    let world = try CatalogWorld()
    let heard = Heard(world.catalog)
    // A process is killed between its commit and its message.
    let file = try world.file()
    try file.run("INSERT INTO change_log (changes) VALUES ('subscription(7, podcast: 8)')")
    let change = CatalogChange.subscription(7, podcast: 8)
    _ = try world.catalog.subscribe(feedURL: "http://b.example/")
    #expect(heard.wait(for: change))
    #expect(!heard.wait(for: .everything, seconds: 0.1))
  }

  @Test func commitsComeInOrderAndWholeAndOneAfterTheOther() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    let start = try other.commits()
    let seen = Monitor<[CatalogCommit]>([])
    other.observeCommits { commit in seen.withLockNotifying { $0.append(commit) } }
    let catalogs = [world.catalog, other]
    let isDone = Monitor(0)
    for (index, catalog) in catalogs.enumerated() {
      PosixThread.start("writer") {
        for number in 0..<50 { _ = try? catalog.subscribe(feedURL: "http://a.example/\(index)/\(number)") }
        isDone.withLockNotifying { $0 += 1 }
      }
    }
    let commits: [CatalogCommit]? = seen.wait(until: .after(patience)) { $0.count >= 100 ? $0 : nil }
    #expect(commits?.map(\.number) == (1...100).map { start + $0 })
    #expect(commits?.allSatisfy { $0.changes.count == 1 } == true)
    let _: Bool? = isDone.wait(until: .after(patience)) { $0 == 2 ? true : nil }
  }

  @Test(arguments: [
    "results(search: -1)", "episode(9223372036854775807)", "newEpisodes(podcast: 1, first: 5, last: 4)", "",
    "newEpisodes(podcast: 1, first: 2)", "search(x)", "later(1)",
    "subscription(1, podcast: -9223372036854775808)",
  ])
  func whatMakesNoSenseInTheLogMeansToLookAtEverything(text: String) throws {
    let world = try CatalogWorld()
    let heard = Heard(world.catalog)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run("INSERT INTO change_log (changes) VALUES (?)", text.isEmpty ? "?" : text)
    _ = try world.catalog.subscribe(feedURL: "http://b.example/")
    #expect(heard.wait(for: .everything))
  }

  @Test func aBurstOfChangesIsHeardOfInTheEnd() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    let isSlow = Monitor(true)
    let last = Monitor<[CatalogChange]>([])
    other.observeChanges { change in
      let _: Bool? = isSlow.wait(until: .after(1)) { $0 ? nil : true }
      last.withLockNotifying { $0.append(change) }
    }
    for number in 0..<600 { _ = try world.catalog.subscribe(feedURL: "http://a.example/\(number)") }
    isSlow.withLockNotifying { $0 = false }
    let done: Bool? = last.wait(until: .after(patience)) { changes in
      changes.count >= 600 || changes.contains(.everything) ? true : nil
    }
    #expect(done == true)
  }

  @Test func nobodyIsToldAfterClosing() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    let heard = Heard(other)
    other.close()
    _ = try world.catalog.subscribe(feedURL: "http://a.example/")
    #expect(heard.count == 0)
  }
}
