import Catalog
import Configuration
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// A catalogue that an earlier version of the program left, written by a mount and commands of that version.
@Suite struct UpgradeTests {
  @Test func aCatalogueOfVersionTwoIsTakenOverWhole() throws {
    let home = try TemporaryPlaces()
    try Directories.createPrivate(home.places.data)
    let path = "\(home.places.data)/catalog.sqlite"
    try Directories.replace(path, with: try Directories.read(fixture("catalog-version-2.sqlite")))
    let before = try Self.rows(path)
    let world = try CatalogWorld()
    let catalog = try Catalog(
      places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
    defer { catalog.close() }
    #expect(try Self.rows(path) == before)
    let subscriptions = try catalog.subscriptions()
    #expect(subscriptions.map(\.name) == ["127.0.0.1", "Lights", "Odd", "Podcast 7"])
    #expect(subscriptions.map(\.hiddenCount) == [0, 1, 0, 0])
    #expect(subscriptions.allSatisfy { $0.changed > 0 })
    #expect(try catalog.searches().map(\.name) == ["boats", "harbour"])
    #expect(try catalog.searches().allSatisfy { $0.changed > 0 })
    let lights = try catalog.episodes(ofPodcast: subscriptions[1].podcast.id)
    #expect(lights.count == 31)
    #expect(lights.count(where: \.hidden) == 1 && lights.count(where: \.played) == 1)
    #expect(try catalog.episode(lights[0].id)?.notes?.contains("foghorns") == true)
    #expect(try catalog.latest(limit: 5).count == 5)
    let list = try catalog.exportOPML()
    #expect(try catalog.subscriptionListSize() == Int64(list.count))
    #expect(String(decoding: list, as: UTF8.self).contains("text=\"Lights\" title=\"Podcast 1\""))
    // The index is filled behind: what was fetched, and podcasts by their own texts.
    #expect(
      try eventually {
        try wait { catalog.find("foghorns source:local", completion: $0) }.podcasts.count == 5
      })
    #expect(
      try eventually {
        try wait { catalog.find("podcast source:local", completion: $0) }.podcasts.count >= 5
      })
    try FullTextTests.check(path)
  }

  /// What the version's own columns hold.
  private static func rows(_ path: String) throws -> [[String]] {
    let database = try Database(path: path)
    return try [
      "SELECT id, feed_url, title, name, author, episode_count, next_episode, newest FROM podcast ORDER BY id",
      "SELECT id, podcast_id, guid, hex(media_key), stem, title, published, hidden FROM episode ORDER BY id",
      "SELECT episode_id, text, '', '', '', '', '', '' FROM notes ORDER BY episode_id",
      "SELECT id, search_id, podcast_id, position, name, name_key, state, '' FROM result ORDER BY id",
      "SELECT result_id, episode_id, '', '', '', '', '', '' FROM hidden_in_search ORDER BY result_id",
      "SELECT id, podcast_id, name, name_key, subscribed, '', '', '' FROM subscription ORDER BY id",
      "SELECT id, name, source, searched, '', '', '', '' FROM search ORDER BY id",
    ].map { query in
      try database.all(query) { row in (0..<8).map { row.string($0) }.joined(separator: "|") }
    }
  }
}
