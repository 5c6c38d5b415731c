import Catalog
import Configuration
import Glibc
import PodcastModel
import PosixKit
import Testing

/// Several processes share a catalogue and see each other's changes at once: here several catalogues of one
/// process, which know no more of each other.
@Suite struct ChangeTests {
  /// What a catalogue's observer has heard.
  private final class Heard: Sendable {
    private let changes = Monitor<[CatalogChange]>([])

    init(_ catalog: Catalog) {
      catalog.observe { [changes] change in changes.withLockNotifying { $0.append(change) } }
    }

    func wait(for change: CatalogChange, seconds: Double = 10) -> Bool {
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
    for heard in [here, there] { #expect(heard.wait(for: .searches)) }
    try world.refresh(podcast)
    for heard in [here, there] {
      #expect(heard.wait(for: .podcast(podcast)))
      #expect(heard.wait(for: .refreshed(podcast: podcast, newEpisodes: 1)))
    }
    _ = try other.subscribe(feedURL: "\(world.web.address)/feed")
    for heard in [here, there] { #expect(heard.wait(for: .subscriptions)) }
    let episode = try #require(try world.catalog.episodes(ofPodcast: podcast).first)
    try world.catalog.setPlayed(true, episode: episode.id)
    for heard in [here, there] { #expect(heard.wait(for: .episode(episode.id))) }
    #expect(!here.wait(for: .everything, seconds: 0.6), "no message was lost")
  }

  @Test func aCommitWithoutAMessageIsNoticedWithTheNextMessage() throws {
    let world = try CatalogWorld()
    let heard = Heard(world.catalog)
    // A process that is killed between its commit and its message: its peers are out of its sight.
    let peers = "\(world.home.places.data)/peers"
    let other = try world.open()
    defer { other.close() }
    rename(peers, peers + ".away")
    _ = try other.subscribe(feedURL: "http://a.example/")
    rename(peers + ".away", peers)
    #expect(!heard.wait(for: .subscriptions, seconds: 0.2))
    _ = try other.subscribe(feedURL: "http://b.example/")
    #expect(heard.wait(for: .subscriptions))
    #expect(heard.wait(for: .everything))
  }

  @Test func aDeadProcessLeavesNoSocketForLong() throws {
    let world = try CatalogWorld()
    let peers = "\(world.home.places.data)/peers"
    try Directories.createPrivate(peers)
    let dead = try UnixSocket.listen(at: "\(peers)/99999-x.sock", kind: .datagram)
    close(dead.release())
    _ = try world.catalog.subscribe(feedURL: "http://a.example/")
    #expect(try Directories.names(in: peers).isEmpty)
  }

  @Test func aBurstOfChangesIsHeardOfInTheEnd() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    let isSlow = Monitor(true)
    let last = Monitor<[CatalogChange]>([])
    other.observe { change in
      let _: Bool? = isSlow.wait(until: .after(1)) { $0 ? nil : true }
      last.withLockNotifying { $0.append(change) }
    }
    for number in 0..<600 { _ = try world.catalog.subscribe(feedURL: "http://a.example/\(number)") }
    isSlow.withLockNotifying { $0 = false }
    let done: Bool? = last.wait(until: .after(20)) { changes in
      changes.count >= 600 || changes.contains(.everything) ? true : nil
    }
    #expect(done == true)
  }

  @Test func nobodyIsToldAfterClosing() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    let heard = Heard(other)
    other.close()
    #expect(eventually { (try? Directories.names(in: "\(world.home.places.data)/peers").isEmpty) == true })
    _ = try world.catalog.subscribe(feedURL: "http://a.example/")
    #expect(heard.count == 0)
  }
}
