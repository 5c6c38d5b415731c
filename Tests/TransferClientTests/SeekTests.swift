import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What a reader misses comes first, the cheapest way, and once.
@Suite struct SeekTests {
  let user: TransferFixture
  let body = TestBody(seed: 21, size: 8_000_000)

  init() throws { user = try TransferFixture() }

  private func waste(_ path: String = "/a.mp3") -> Int64 { user.origin.sent(path) - body.size }

  @Test func aSeekFarAheadIsServedAtOnceByARange() throws {
    let request = user.serve(body, .with { $0.rate = 1_000_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 6_000_000, 4096), at: 6_000_000) == nil)
    #expect(user.origin.requests.count == 2)
    #expect(user.origin.requests.last?.range == "bytes=5996544-")
    user.origin.change("/a.mp3") { $0.behaviour.rate = nil }
  }

  /// The feed has told too much, and `tail` reads there.
  @Test func aReadBehindTheTrueEndBringsTheLastBlockAlone() throws {
    let request = user.serve(body)
    let client = try user.client()
    let episode = try client.opened(request, .fetchOnly)
    #expect(try episode.read(at: body.size + 500_000, 65_536) == [])
    #expect(episode.size == body.size)
    #expect(eventually { client.status(of: request.key)?.total == body.size })
    #expect(body.firstDifference(try episode.read(at: 1_000_000, 4096), at: 1_000_000) == nil)
    #expect(
      user.origin.requests.map(\.range) == [
        "bytes=8499200-8568831", "bytes=7999488-8003583", "bytes=999424-1007615",
      ])
    #expect(user.origin.sent("/a.mp3") < 100_000)
  }

  @Test func aSmallGapIsReadThrough() throws {
    let request = user.serve(body, .with { $0.rate = 2_000_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 4096)
    #expect(body.firstDifference(try episode.read(at: 900_000, 4096), at: 900_000) == nil)
    #expect(user.origin.requests.count == 1)
  }

  @Test func aGapThatWouldTakeLongIsJumpedOver() throws {
    let request = user.serve(body, .with { $0.rate = 100_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    // A slow host: its rate must have been seen.
    #expect(eventually { (client.status(of: request.key)?.rate ?? .max) < 300_000 })
    #expect(body.firstDifference(try episode.read(at: 950_000, 4096), at: 950_000) == nil)
    // By the running response alone it would have taken more than seven seconds: another one was asked for.
    #expect(user.origin.requests.count == 2)
    user.origin.change("/a.mp3") { $0.behaviour.rate = nil }
  }

  @Test func aSlowHostIsReadInOrderByOneRequest() throws {
    let small = TestBody(seed: 22, size: 500_000)
    let request = user.serve(small, .with { $0.rate = 120_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    // Several pieces ahead, as the kernel reads.
    let ended = Monitor(0)
    for offset in stride(from: Int64(0), to: small.size, by: 65_536) {
      let count = Int(min(65_536, small.size - offset))
      _ = episode.whenAvailable(at: offset, count: count) { _ in ended.withLockNotifying { $0 += 1 } }
    }
    #expect(ended.wait(until: .after(patience)) { $0 == 8 ? true : nil } == true)
    #expect(small.firstDifference(try episode.readAll()) == nil)
    #expect(user.origin.requests.count == 1)
  }

  @Test func whatCameOutOfOrderIsKeptAndNotFetchedAgain() throws {
    let request = user.serve(body, .with { $0.rate = 4_000_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    for offset: Int64 in [7_000_000, 2_500_000, 5_200_000] {
      #expect(body.firstDifference(try episode.read(at: offset, 200_000), at: offset) == nil)
    }
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(waste() <= body.size / 20)
  }

  @Test func anMP4WithItsIndexAtTheEndOpensWithTwoRequests() throws {
    // ftyp, then media data up to the last 300,000 bytes.
    let index: Int64 = body.size - 300_000
    var bytes = body.bytes
    let head: [UInt8] =
      [0, 0, 0, 16] + Array("ftypM4A ".utf8) + [0, 0, 0, 0]
      + (0..<4).map { UInt8(truncatingIfNeeded: (index - 16) >> (24 - $0 * 8)) } + Array("mdat".utf8)
    bytes.replaceSubrange(0..<head.count, with: head)
    var resource = OriginResource(bytes, mediaType: "audio/mp4")
    resource.etag = "\"m4a\""
    resource.behaviour.rate = 2_000_000
    let request = TransferFixture.request(user.origin.serve("/a.m4a", resource))
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(try episode.read(at: 0, 4096) == Array(bytes[..<4096]))
    #expect(try episode.read(at: index, 300_000) == Array(bytes[Int(index)...]))
    #expect(user.origin.requests.count == 2)
    #expect(try episode.readAll() == bytes)
    #expect(client.reaches(.cached, request))
    #expect(waste("/a.m4a") <= 300_000)
    #expect(user.origin.requests.count == 2)
  }

  @Test func withoutRangesASeekWaitsForTheRunningResponse() throws {
    let request = user.serve(
      body,
      .with {
        $0.rate = 4_000_000
        $0.ignoresRange = true
      })
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 6_000_000, 4096), at: 6_000_000) == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
  }

  @Test func withoutValidatorsASeekWaitsForTheRunningResponse() throws {
    let request = user.serve(
      body,
      .with {
        $0.rate = 8_000_000
        $0.omitsValidators = true
        $0.variesFrom = 3_000_000
      })
    let client = try user.client()
    let episode = try client.opened(request)
    let sought = try episode.read(at: 6_000_000, 4096)
    let whole = try episode.readAll()
    #expect(Array(whole[6_000_000..<6_004_096]) == sought)
    // Of one answer from end to end.
    let mark = whole[4_000_000] ^ body.byte(at: 4_000_000)
    #expect(zip(whole[3_000_000...], body.bytes(3_000_000..<body.size)).allSatisfy { $0 ^ $1 == mark })
    #expect(user.origin.requests.count == 1)
  }

  @Test func aReaderThatMayOnlyFetchGetsJustWhatItAsksFor() throws {
    let request = user.serve(body)
    let client = try user.client()
    let episode = try client.opened(request, .fetchOnly)
    #expect(user.origin.requests.isEmpty)
    #expect(body.firstDifference(try episode.read(at: 3_000_000, 4096), at: 3_000_000) == nil)
    #expect(body.firstDifference(try episode.read(at: 100, 1000), at: 100) == nil)
    #expect(user.origin.sent("/a.mp3") <= 12_288)
    #expect(client.status(of: request.key)?.state == .remote)
    #expect(client.status(of: request.key)?.total == body.size)
  }

  @Test func aReaderThatDownloadsAtItsFirstReadDoes() throws {
    let request = user.serve(body)
    let client = try user.client()
    let episode = try client.opened(request, .downloadAtRead)
    #expect(user.origin.requests.isEmpty)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
  }

  @Test func aReaderOfTheCacheOnlyStartsNothing() throws {
    let request = user.serve(body)
    let client = try user.client()
    let episode = try client.opened(request, .cachedOnly)
    #expect(episode.readFailure(at: 0)?.errno == .EIO)
    #expect(
      client.status(of: request.key)?.reason == "not in the cache, and this program's reads fetch nothing")
    #expect(user.origin.requests.isEmpty)
    #expect(user.daemon == nil)
  }
}
