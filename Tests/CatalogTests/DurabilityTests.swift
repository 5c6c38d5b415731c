import Catalog
import Configuration
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

@Suite struct DurabilityTests {
  /// What another process finds that starts after a kill -9 of the first: the files as they are at that
  /// moment, with nothing closed in order.
  private func afterKill(_ world: CatalogWorld) throws -> (TemporaryPlaces, Catalog) {
    let copy = try TemporaryPlaces()
    try Directories.createPrivate(copy.places.data)
    for name in ["catalog.sqlite", "catalog.sqlite-wal"] {
      let bytes = try Directories.read("\(world.home.places.data)/\(name)")
      try Directories.replace("\(copy.places.data)/\(name)", with: bytes)
    }
    return (
      copy, try Catalog(places: copy.places, settings: world.settings, http: world.http, feedReader: .shipped)
    )
  }

  @Test func whatWasToldAsDoneSurvivesAKill() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let result = try #require(try world.catalog.results(showing: [podcast])[podcast]?.keys.first)
    _ = try world.catalog.subscribe(result: result, name: "Lights")
    let episode = try #require(try world.catalog.episodes(ofPodcast: podcast).first)
    try world.catalog.setPlayed(true, episode: episode.id)
    let (home, catalog) = try afterKill(world)
    defer { catalog.close() }
    #expect(try catalog.searches() == world.catalog.searches())
    #expect(try catalog.subscriptions() == world.catalog.subscriptions())
    #expect(try catalog.episodes(ofPodcast: podcast) == world.catalog.episodes(ofPodcast: podcast))
    #expect(try catalog.episode(episode.id)?.played == true)
    _ = home
  }

  @Test func `Nothing is written into a catalogue that was set aside or removed`() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    let path = "\(world.home.places.data)/catalog.sqlite"
    let listed = try catalog.subscribe(feedURL: "http://a.example/feed", title: "Lights")
    let told = Monitor(0)
    catalog.observeReplacement { told.withLock { $0 += 1 } }
    let list = "\(world.home.places.data)/subscriptions.opml"
    #expect(eventually { access(list, F_OK) == 0 })
    for ending in ["", "-wal", "-shm"] { rename(path + ending, "\(path).aside\(ending)") }
    func isRefused() {
      let error = #expect(throws: CatalogError.self) {
        try catalog.rename(subscription: listed.id, to: "Mine")
      }
      #expect(error?.errno == .EIO && error?.message.contains("was replaced") == true)
    }
    // With no other one in its place, and with one.
    isRefused()
    let new = try world.open()
    defer { new.close() }
    isRefused()
    #expect(eventually { told.withLock { $0 } == 1 })
    #expect(try new.subscriptions().map(\.name) == ["Lights"])
    _ = try new.subscribe(feedURL: "http://b.example/feed", title: "Other")
    func isListed() -> Bool {
      (try? Directories.read(list)).map { String(decoding: $0, as: UTF8.self).contains("b.example") } ?? false
    }
    #expect(eventually { isListed() })
    catalog.close()
    #expect(isListed())
    #expect(told.withLock { $0 } == 1)
  }

  /// Also where nothing is written any more: the log must not keep what was searched for until it begins anew.
  @Test(arguments: [true, false]) func whatIsForgottenLeavesTheLogToo(isReplaced: Bool) throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("Lights", "/feed")]))
    let search = try world.search("quintessential")
    func isKept() throws -> Bool {
      try ["", "-wal"].contains { ending in
        let bytes = try Directories.read("\(world.home.places.data)/catalog.sqlite\(ending)", limit: 64 << 20)
        return String(decoding: bytes, as: UTF8.self).contains("quintessential")
      }
    }
    #expect(try isKept())
    if isReplaced {
      _ = try world.search("lights", replacing: search.id)
    } else {
      try world.catalog.forgetSearch(search.id)
    }
    #expect(try eventually { try !isKept() })
  }

  @Test func theFileIsForTheOwnerAlone() throws {
    let world = try CatalogWorld()
    for name in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
      var status = stat()
      #expect(stat("\(world.home.places.data)/\(name)", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
  }

  @Test func whatIsUnderWayWhenTheCatalogueClosesEndsAtOnce() throws {
    let world = try CatalogWorld()
    let slow: FakeWeb.Page = {
      var page = FakeWeb.Page("{}")
      page.delay = 30
      return page
    }()
    let podcast = try world.podcast()
    world.web.set("/search", slow)
    world.web.set("/feed", slow)
    let results = Monitor<[Errno?]>([])
    world.catalog.search("slow") { result in results.withLockNotifying { $0.append(result.error?.errno) } }
    world.catalog.refresh(podcast: podcast, cause: .firstLook) { result in
      results.withLockNotifying { $0.append(result.error?.errno) }
    }
    world.catalog.subscribe(address: "\(world.web.address)/feed?") { result in
      results.withLockNotifying { $0.append(result.error?.errno) }
    }
    #expect(world.web.wait("/search", count: 2))
    #expect(world.web.wait("/feed", count: 2))
    world.catalog.close()
    let ends: [Errno?]? = results.wait(until: .after(patience)) { $0.count == 3 ? $0 : nil }
    #expect(ends == [.ECANCELED, .ECANCELED, .ECANCELED])
    let late = #expect(throws: CatalogError.self) { try world.search("late") }
    #expect(late?.errno == .ECANCELED)
  }
}
