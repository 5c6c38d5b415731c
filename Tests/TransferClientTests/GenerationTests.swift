import Configuration
import EpisodeCache
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// One representation is never mixed with another (Documentation/Transfers.md).
@Suite struct GenerationTests {
  let user: TransferFixture
  let old = TestBody(seed: 31, size: 2_000_000)
  let new = TestBody(seed: 32, size: 2_100_000)

  init() throws { user = try TransferFixture() }

  /// Fetches the first 700,000 bytes of `old`, and puts `change` in its place.
  private func half(
    _ client: TransferClient, _ behaviour: OriginBehaviour = OriginBehaviour(),
    _ change: (inout OriginResource) -> Void
  ) throws -> TransferRequest {
    var cut = behaviour
    cut.cutAfter = 700_000
    let request = user.serve(old, cut)
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { client.status(of: request.key)?.received == 700_000 })
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    user.origin.change("/a.mp3") { resource in
      resource.behaviour = behaviour
      change(&resource)
    }
    return request
  }

  @Test func anotherFileBeginsAnewAndReadersOfTheOldOneKeepWhatTheyHad() throws {
    let client = try user.client()
    let replacement = OriginResource(new)
    let request = try half(client) { $0 = replacement }
    let before = try client.opened(request, .cachedOnly)
    let fetching = try client.opened(request, .fetchOnly)
    #expect(old.firstDifference(try fetching.read(at: 0, 696_000)) == nil)

    let after = try client.opened(request)
    #expect(after.size == new.size)
    #expect(new.firstDifference(try after.readAll()) == nil)
    #expect(after.generation != before.generation)
    #expect(old.firstDifference(try before.read(at: 0, 696_000)) == nil)
    #expect(fetching.readFailure(at: 1_000_000)?.errno == .ESTALE)
    #expect(client.status(of: request.key)?.generation == after.generation)
    // The old files have lost their names.
    let names = try Directories.names(in: user.layout.episodes)
    #expect(names.allSatisfy { $0.hasPrefix("\(request.key)-\(after.generation)") })
  }

  @Test func withoutValidatorsADifferentOverlapBeginsAnew() throws {
    let client = try user.client()
    let bare = OriginBehaviour.with {
      $0.omitsValidators = true
      $0.variesFrom = 0
    }
    let request = try half(client, bare) { _ in }
    let whole = try client.opened(request).readAll()
    let mark = whole[0] ^ old.byte(at: 0)
    #expect(Int64(whole.count) == old.size)
    #expect(zip(whole, old.bytes).allSatisfy { $0 ^ $1 == mark })
  }

  @Test func anotherTotalBeginsAnewWhateverTheOverlap() throws {
    let client = try user.client()
    let longer = OriginResource(TestBody(seed: 31, size: 2_000_100))
    let request = try half(client, .with { $0.omitsValidators = true }) { resource in
      resource.content = longer.content
    }
    let episode = try client.opened(request)
    #expect(episode.size == 2_000_100)
    #expect(TestBody(seed: 31, size: 2_000_100).firstDifference(try episode.readAll()) == nil)
  }

  @Test func aWeakTagIsNoValidator() throws {
    let client = try user.client()
    let request = try half(client) { _ in }
    _ = request
    user.origin.change("/a.mp3") { $0.etag = "W/\"x\"" }
    let episode = try client.opened(request)
    #expect(old.firstDifference(try episode.readAll()) == nil)
  }

  @Test func anAnswerWithTheWholeGoesOnWhereAllThatIsStoredAgrees() throws {
    let client = try user.client()
    let bare = OriginBehaviour.with {
      $0.omitsValidators = true
      $0.ignoresRange = true
    }
    let request = try half(client, bare) { _ in }
    let generation = user.generation(request)
    let episode = try client.opened(request)
    #expect(episode.generation == generation)
    #expect(old.firstDifference(try episode.readAll()) == nil)
  }

  @Test func aChangeInTheMiddleOfAReadingIsNeverMixedIn() throws {
    let request = user.serve(old, .with { $0.refusesToAnswer = true }) { resource in
      resource.plan = [.with { $0.cutAfter = 700_000 }]
    }
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(old.firstDifference(try episode.read(at: 0, 696_000)) == nil)
    let replacement = OriginResource(new)
    user.origin.change("/a.mp3") { $0 = replacement }
    #expect(client.reaches(.cached, request))
    #expect(episode.readFailure(at: 700_000)?.errno == .ESTALE)
    #expect(old.firstDifference(try episode.read(at: 0, 696_000)) == nil)
    #expect(new.firstDifference(try client.opened(request).readAll()) == nil)
  }

  @Test func aDeletedCacheHarmsNobody() throws {
    let request = user.serve(old, .with { $0.rate = 2_000_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(old.firstDifference(try episode.read(at: 0, 300_000)) == nil)
    removeTree(user.places.cache)
    // Who has it open reads on.
    #expect(old.firstDifference(try episode.readAll()) == nil)
    // What was ordered is for the cache: it comes there, whether anybody has it open or not.
    #expect(client.reaches(.cached, request))
    #expect(client.confirmed { $0.order(.setKept(request, true), completion: $1) })
    #expect(old.firstDifference(try episode.readAll()) == nil)
    episode.close()
    #expect(user.filesAreClosed(request))
    #expect(
      old.firstDifference(try Directories.read(user.layout.data(request.key, user.generation(request))))
        == nil)
    #expect(client.status(of: request.key)?.isKept == true)

    removeTree(user.places.cache)
    #expect(client.status(of: request.key)?.state == .remote)
    #expect(old.firstDifference(try client.opened(request).readAll()) == nil)
  }

  private func removeTree(_ path: String) {
    for name in (try? Directories.names(in: path)) ?? [] {
      let child = path + "/" + name
      if unlink(child) != 0 { removeTree(child) }
    }
    rmdir(path)
  }
}
