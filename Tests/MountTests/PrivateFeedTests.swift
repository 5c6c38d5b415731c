import Glibc
import PosixKit
import TestSupport
import Testing

/// A feed whose address has a name and a password.
@Suite struct PrivateFeedTests {
  private static let secret = "ann:harbour%20word"
  /// As RFC 7617 writes it: base64 of "ann:harbour word".
  private static let authorization = "Basic YW5uOmhhcmJvdXIgd29yZA=="

  @Test func itsCredentialsGoToItsOwnHostForAllThatItNamesAndToNoOther() throws {
    let fixture = try MountFixture()
    let other = try OriginServer()
    defer { other.stop() }
    let elsewhere = TestBody(seed: 2, size: 300_000)
    other.serve("/2.mp3", OriginResource(elsewhere))
    let art = [UInt8](repeating: 7, count: 5000)
    fixture.origin.serve("/art.jpg", OriginResource(art, mediaType: "image/jpeg"))
    fixture.publish(count: 3) { feed, origin in
      feed.imageURL = origin.url("/art.jpg")
      feed.items[1].url = other.url("/2.mp3")
      // A way through the feed's host to another one.
      feed.items[2].url = origin.url("/moved.mp3")
    }
    other.serve("/3.mp3", OriginResource(fixture.bodies[2]))
    var moved = OriginResource([], mediaType: "text/plain")
    moved.behaviour.redirectTarget = other.url("/3.mp3")
    fixture.origin.serve("/moved.mp3", moved)
    for path in ["/feed.xml", "/1.mp3", "/art.jpg"] {
      fixture.origin.change(path) { $0.behaviour.basicCredentials = "ann:harbour word" }
    }
    try fixture.mount()
    let address = fixture.origin.url("/feed.xml").replacing("http://", with: "http://\(Self.secret)@")
    let result = try fixture.run("subscribe", address)
    #expect(result.end == .exit(0), "\(result.errors)")

    let podcast = fixture.root + "/Subscriptions/" + MountFixture.podcast
    let names = MountFixture.names.map { podcast + "/" + $0 }
    #expect(try fixture.isWhole(names[0], 1))
    #expect(try Directories.read(names[1], limit: 1 << 20) == elsewhere.bytes)
    #expect(try fixture.isWhole(names[2], 3))
    #expect(try Directories.read(podcast + "/cover.jpg", limit: 1 << 20).count == 5000)

    for path in ["/feed.xml", "/1.mp3", "/art.jpg"] {
      #expect(fixture.origin.requests(path).last?.header("authorization") == Self.authorization, "\(path)")
    }
    for path in ["/2.mp3", "/3.mp3"] {
      #expect(!other.requests(path).isEmpty)
      #expect(other.requests(path).allSatisfy { $0.header("authorization") == nil }, "\(path)")
    }
    try expectNoSecret(in: fixture, podcast, names[0])
  }

  @Test func whatIsConfiguredForAFeedAppliesToItsEpisodesAfterItHasMoved() throws {
    let fixture = try MountFixture()
    let address = fixture.origin.url("/feed.xml")
    try fixture.environment.home.write(
      "config/podcastfs/config", "[feed \"\(address)\"]\nuser_agent = Special/1\n")
    try fixture.mount()
    #expect(try fixture.run("subscribe", address).end == .exit(0))
    let podcast = fixture.root + "/Subscriptions/" + MountFixture.podcast
    var feed: OriginResource?
    fixture.origin.change("/feed.xml") { feed = $0 }
    fixture.origin.serve("/moved.xml", try #require(feed))
    fixture.origin.change("/feed.xml") {
      $0.behaviour.redirectTarget = fixture.origin.url("/moved.xml")
      $0.behaviour.redirectStatus = 301
    }
    #expect(
      try eventually {
        _ = try fixture.run("refresh", podcast)
        return try fixture.attribute("feed_url", podcast) == fixture.origin.url("/moved.xml")
      })
    #expect(try fixture.isWhole(podcast + "/" + MountFixture.names[0], 1))
    #expect(fixture.origin.requests("/1.mp3").last?.header("user-agent") == "Special/1")
  }

  /// Names, attributes, status, events and logs tell nothing of it.
  private func expectNoSecret(in fixture: MountFixture, _ podcast: String, _ episode: String) throws {
    let attributes = try RunningProcess(
      "getfattr", ["--absolute-names", "-d", podcast, episode], environment: fixture.environment.variables)
    #expect(attributes.wait() == .exit(0))
    var shown = attributes.output
    let status = try Directories.read(fixture.root + "/.podcastfs/status.json", limit: 1 << 20)
    let log = try Directories.read(fixture.root + "/.podcastfs/log", limit: 1 << 20)
    shown += String(decoding: status + log, as: UTF8.self)
    shown += try fixture.run("list").output + fixture.run("status", "--json").output
    #expect(shown.contains("harbour") || shown.contains("Harbour"))
    #expect(!shown.contains("word") && !shown.contains("ann:"), "\(shown)")
  }
}
