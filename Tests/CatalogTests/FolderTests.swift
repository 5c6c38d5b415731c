import Catalog
import Configuration
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// What directories need to know cheaply: when what they list changed, and how long the list is.
@Suite struct FolderTests {
  @Test func eachChangeMovesTheTimesOfWhatListsItAndOfNothingElse() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1"), .init("Two", guid: "2")]).page)
    let podcast = try world.podcast()
    let search = try #require(try catalog.searches().first)
    let result = try #require(try catalog.results(ofSearch: search.id).first)
    try world.refresh(podcast)
    let episodes = try catalog.episodes(ofPodcast: podcast)

    var before = try times(catalog)
    try catalog.hideInSearch(result: result.id, episode: episodes[0].id)
    #expect(try changes(catalog, &before) == ["result"])
    try catalog.setPlayed(true, episode: episodes[0].id)
    #expect(try changes(catalog, &before) == [])
    let subscription = try catalog.subscribe(feedURL: "\(world.web.address)/feed").id
    #expect(try changes(catalog, &before) == ["list", "subscription", "subscriptions"])
    try catalog.setHidden(true, episode: episodes[0].id)
    #expect(try changes(catalog, &before) == ["subscription"])
    #expect(try catalog.subscription(subscription)?.hiddenCount == 1)
    try catalog.restoreHidden(podcast: podcast)
    #expect(try changes(catalog, &before) == ["subscription"])
    #expect(try catalog.subscription(subscription)?.hiddenCount == 0)
    try catalog.rename(subscription: subscription, to: "Mine")
    #expect(try changes(catalog, &before) == ["list", "subscriptions"])
    try catalog.hideResult(result.id)
    #expect(try changes(catalog, &before) == ["result", "search"])
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1"), .init("Three", guid: "3")]).page)
    try world.refresh(podcast)
    #expect(try changes(catalog, &before).contains("subscription"))
    // A refresh that brings nothing moves nothing.
    try world.refresh(podcast)
    #expect(try changes(catalog, &before) == [])
    // By another date it may be among the newest of all.
    let dated = TestFeed.Item("One", guid: "1", date: "Thu, 04 Jan 2024 10:00:00 GMT")
    world.web.set("/feed", TestFeed(items: [dated, .init("Three", guid: "3")]).page)
    try world.refresh(podcast)
    #expect(try changes(catalog, &before).contains("subscription"))
    let other = try world.open()
    defer { other.close() }
    #expect(try times(other) == before, "they are kept")
  }

  private func times(_ catalog: Catalog) throws -> [String: Int64] {
    let folders = try catalog.folderTimes()
    var times = [
      "searches": folders.searches, "subscriptions": folders.subscriptions,
      "list": folders.subscriptionList,
    ]
    let search = try catalog.searches().first
    times["search"] = search?.changed
    times["result"] = try search.flatMap { try catalog.results(ofSearch: $0.id).first?.changed } ?? 0
    times["subscription"] = try catalog.subscriptions().first?.changed ?? 0
    return times
  }

  private func changes(_ catalog: Catalog, _ before: inout [String: Int64]) throws -> [String] {
    let after = try times(catalog)
    defer { before = after }
    return after.filter { before[$0.key] != $0.value }.map(\.key).sorted()
  }

  @Test func theListsSizeIsKnownWithoutWritingIt() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    func check(_ line: UInt = #line) throws {
      let bytes = try catalog.exportOPML()
      #expect(try catalog.subscriptionListSize() == Int64(bytes.count))
      #expect(try catalog.exportOPML() == bytes, "the same until something changes")
    }
    try check()
    let first = try catalog.subscribe(feedURL: "http://a.example/?a=1&b=2", title: "A \"quoted\" <title>")
    try check()
    world.web.set("/feed", TestFeed(title: "Kurz", items: [.init("One", guid: "1")]).page)
    let second = try catalog.subscribe(
      feedURL: "\(world.web.address)/feed", title: "A longer title than that")
    try world.refresh(second.podcast.id)
    try check()
    #expect(String(decoding: try catalog.exportOPML(), as: UTF8.self).contains("title=\"Kurz\""))
    try catalog.rename(subscription: first.id, to: "Ähnlich")
    try check()
    try catalog.unsubscribe(first.id)
    try check()
    try catalog.unsubscribe(second.id)
    try check()
  }

  @Test func aRenamedSubscriptionKeepsItsNameInTheList() throws {
    let world = try CatalogWorld()
    let first = try world.catalog.subscribe(feedURL: "http://a.example/", title: "Title: one")
    _ = try world.catalog.subscribe(feedURL: "http://b.example/", title: "Other")
    try world.catalog.rename(subscription: first.id, to: "Mine")
    let taken = #expect(throws: CatalogError.self) {
      try world.catalog.rename(subscription: first.id, to: "OTHER")
    }
    #expect(taken?.errno == .EEXIST)
    try world.catalog.rename(subscription: first.id, to: "MINE")
    let other = try CatalogWorld()
    _ = try other.catalog.importOPML(try world.catalog.exportOPML())
    #expect(try other.catalog.subscriptions().map(\.name) == ["MINE", "Other"])
    #expect(try other.catalog.subscriptions().first?.podcast.title == "Title: one")
  }

  @Test func rowsAreReadByTheirNumbers() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: (0..<20).map { .init("\($0)", guid: "\($0)") }).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let all = try world.catalog.episodes(ofPodcast: podcast)
    let wanted = [all[3], all[7], all[19]]
    #expect(try world.catalog.episodes(wanted.map(\.id).reversed() + [1, -1]) == wanted)
    #expect(try world.catalog.podcasts([podcast, 99]).map(\.id) == [podcast])
    #expect(try world.catalog.episodes([]).isEmpty)
  }

  /// Verbs of this process and of others come before refreshes, and in the order in which they came.
  @Test func aVerbWaitsForOneWriteOfARefreshAtTheMost() throws {
    let world = try CatalogWorld { $0.connectTimeout = 2 }
    let other = try world.open()
    defer { other.close() }
    // A feed that refuses writes its error: very many of them must not hold up a verb.
    let outlines = (0..<600).map { "<outline type=\"rss\" xmlUrl=\"http://127.0.0.1:1/\($0)\"/>" }
    _ = try world.catalog.importOPML(
      Array("<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>".utf8))
    let count = Monitor(0)
    for listed in try world.catalog.subscriptions() {
      world.catalog.refresh(podcast: listed.podcast.id, cause: .forced) { _ in
        count.withLockNotifying { $0 += 1 }
      }
    }
    for number in 0..<20 { _ = try other.subscribe(feedURL: "http://b.example/\(number)") }
    let whenVerbsEnded = count.withLock { $0 }
    let all: Bool? = count.wait(until: .after(patience)) { $0 == 600 ? true : nil }
    #expect(all == true)
    // By the count of refreshes that ended meanwhile, not by the clock.
    #expect(whenVerbsEnded < 300, "20 verbs waited for \(whenVerbsEnded) refreshes")
  }
}
