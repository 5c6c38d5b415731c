import Configuration
import EpisodeCache
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What hosts and feeds say that can't be: no daemon dies of it, and nothing is lost.
@Suite struct HostileHostTests {
  let user: TransferFixture

  init() throws { user = try TransferFixture() }

  /// An absurd length in a feed must not empty the cache.
  @Test(arguments: [Int64(1) << 50, .max]) func anAbsurdLengthOfTheFeedLeavesTheCacheAlone(_ length: Int64)
    throws
  {
    let one = TestBody(seed: 1, size: 300_000)
    let two = TestBody(seed: 2, size: 300_000)
    let client = try user.client()
    let old = user.serve(one, at: "/old.mp3")
    #expect(client.confirmed { $0.order(.start(old), completion: $1) })
    #expect(client.reaches(.cached, old))
    var new = user.serve(two, at: "/new.mp3")
    new.expectedLength = length
    let pid = user.daemon
    let episode = try client.opened(new)
    #expect(two.firstDifference(try episode.readAll()) == nil)
    #expect(client.status(of: old.key)?.state == .cached)
    #expect(user.daemon == pid)
  }

  @Test func anAbsurdLengthOfTheFeedDoesNotKeepADownloadQueued() throws {
    let client = try user.client()
    var new = user.serve(TestBody(seed: 2, size: 300_000), at: "/new.mp3")
    new.expectedLength = 1 << 50
    #expect(client.confirmed { $0.order(.start(new), completion: $1) })
    #expect(client.reaches(.cached, new), "\(String(describing: client.status(of: new.key)))")
  }

  /// A body without a length that ends before what is stored already is no whole file.
  @Test func aShorterEndThanWhatIsStoredIsNotBelieved() throws {
    let body = TestBody(seed: 7, size: 3_000_000)
    let count = Monitor(0)
    // As by HTTP/1.0: no length, no ranges, the end of the connection is the end.
    let url = user.origin.handle("/a.mp3") { _, writer throws(ResponseWriter.Ended) in
      let number = count.withLock { count in
        count += 1
        return count
      }
      try writer.begin(200, [("Content-Type", "audio/mpeg")], length: nil)
      writer.rate = number == 1 ? 1_000_000 : nil
      // The second time it ends cleanly, but early.
      try writer.write(body.bytes(0..<(number == 2 ? 400_000 : body.size)))
    }
    let request = TransferFixture.request(url)
    let client = try user.client()
    let episode = try client.opened(request)
    _ = try episode.read(at: 1_000_000, 4096)
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    let had = client.status(of: request.key)?.received ?? 0
    #expect(had > 900_000)
    episode.close()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    _ = client.reaches(.cached, request)
    #expect(
      client.status(of: request.key)?.received == body.size,
      "had \(had): \(String(describing: client.status(of: request.key)))")
  }

  /// A feed's nonsense in the queue must not keep everything else from coming, for ever.
  @Test func anAbsurdLengthInTheQueueHarmsNoOther() throws {
    let client = try user.client()
    var absurd = user.serve(TestBody(seed: 2, size: 300_000), at: "/new.mp3")
    absurd.expectedLength = .max
    #expect(client.confirmed { $0.order(.start(absurd), completion: $1) })
    let other = user.serve(TestBody(seed: 3, size: 300_000), at: "/other.mp3")
    client.order(.start(other)) { _ in }
    let pid = user.daemon
    #expect(client.reaches(.cached, other))
    #expect(!eventually(within: 15) { self.user.daemon != pid }, "it has died")
  }

  @Test(arguments: [OriginBehaviour.with { $0.status = 503 }, .with { $0.refusesToAnswer = true }])
  func aHostBehindATrackerIsAskedByFewOfThoseThatWait(_ behaviour: OriginBehaviour) throws {
    let requests = (0..<60).map { number in
      _ = user.serve(TestBody(seed: UInt64(number), size: 50_000), at: "/cdn/\(number).mp3", behaviour)
      return user.serve(
        TestBody(seed: UInt64(number), size: 50_000), at: "/\(number).mp3",
        .with { $0.redirectTarget = "http://localhost:\(user.origin.port)/cdn/\(number).mp3" })
    }
    let client = try user.client()
    for request in requests { client.order(.start(request)) { _ in } }
    let origin = user.origin
    #expect(!eventually(within: 3) { origin.requests.filter { $0.path.hasPrefix("/cdn") }.count > 20 })
  }

  /// One refused request beside a response says nothing of the responses after it.
  @Test func aRefusedSeekHoldsOnlyAsLongAsTheResponsesThen() throws {
    let body = TestBody(seed: 10, size: 8_000_000)
    let request = user.serve(body) { resource in
      resource.plan = [
        OriginBehaviour(), OriginBehaviour(), .with { $0.rate = 2_000_000 }, .with { $0.status = 503 },
        .with { $0.rate = 20_000 },
      ]
    }
    let client = try user.client()
    let first = try client.opened(request, .fetchOnly)
    _ = try first.read(at: 4_000_000, 400_000)
    _ = try first.read(at: 0, 4096)
    first.close()
    let episode = try client.opened(request)
    _ = try episode.read(at: 6_000_000, 4096)
    #expect(user.origin.requests.count == 5, "\(user.origin.requests.map { ($0.range, $0.status) })")
    // What is under way takes a hundred seconds: not waited for.
    _ = try episode.read(at: 5_000_000, 4096)
  }

  /// A host's nonsense kills no daemon.
  @Test func aPartFarBehindAnyEndKillsNoDaemon() throws {
    let url = user.origin.handle("/a.mp3") { _, writer throws(ResponseWriter.Ended) in
      let headers = [
        ("Content-Type", "audio/mpeg"), ("Content-Range", "bytes 9223372036854770000-9223372036854775806/*"),
      ]
      try writer.respond(206, headers, body: [UInt8](repeating: 0xff, count: 50_000))
    }
    try expectNoDeath(TransferFixture.request(url))
  }

  @Test func aTotalBeyondAllBoundsKillsNoDaemon() throws {
    let body = TestBody(seed: 13, size: 400_000)
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      guard let range = request.header("range"), let first = Int64(range.dropFirst(6).prefix { $0 != "-" })
      else {
        try writer.begin(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"x\"")], length: nil)
        try writer.write(body.bytes(0..<300_000))
        throw writer.cut()
      }
      let headers = [
        ("Content-Type", "audio/mpeg"), ("ETag", "\"x\""),
        ("Content-Range", "bytes \(first)-399999/9223372036854775807"),
      ]
      try writer.respond(206, headers, body: body.bytes(first..<400_000))
    }
    try expectNoDeath(TransferFixture.request(url))
  }

  private func expectNoDeath(_ request: TransferRequest) throws {
    let client = try user.client()
    let first = user.serve(TestBody(seed: 14, size: 10_000), at: "/first.mp3")
    #expect(client.confirmed { $0.order(.start(first), completion: $1) })
    #expect(client.reaches(.cached, first))
    let pid = user.daemon
    client.order(.start(request)) { _ in }
    let user = user
    #expect(!eventually(within: 4) { user.daemon != pid || !user.isRunning(pid ?? 0) })
    let other = user.serve(TestBody(seed: 15, size: 10_000), at: "/other.mp3")
    client.order(.start(other)) { _ in }
    #expect(client.reaches(.cached, other))
  }

  /// A validator counts for stored bytes only once they have been shown to be of the same representation.
  @Test func aValidatorIsNotBelievedBeforeTheOverlapHasAgreed() throws {
    let (old, new) = (TestBody(seed: 31, size: 4_000_000), TestBody(seed: 32, size: 4_000_000))
    let count = Monitor(0)
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 1 {
        // No validators, and cut in the middle.
        try writer.begin(200, [("Content-Type", "audio/mpeg")], length: 4_000_000)
        try writer.write(old.bytes(0..<1_000_000))
        throw writer.cut()
      }
      // From now on another file of that size, with a validator.
      let first = request.header("range").flatMap { Int64($0.dropFirst(6).prefix { $0 != "-" }) }
      var headers = [("Content-Type", "audio/mpeg"), ("ETag", "\"new\"")]
      if let first { headers.append(("Content-Range", "bytes \(first)-3999999/4000000")) }
      try writer.begin(first == nil ? 200 : 206, headers, length: 4_000_000 - (first ?? 0))
      if number == 2 { throw writer.cut() }
      try writer.write(new.bytes((first ?? 0)..<4_000_000))
    }
    let request = TransferFixture.request(url)
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(client.reaches(.cached, request))
    let bytes = try client.opened(request).readAll()
    let requests = user.origin.requests.map { "\($0.range ?? "whole") \($0.status ?? 0)" }
    #expect(
      new.firstDifference(bytes) == nil,
      "\(requests) as the old one up to \(String(describing: old.firstDifference(bytes)))")
  }

  /// The answer to a resume says that it is a part, and is the whole.
  @Test func aPartThatIsTheWholeMixesNothing() throws {
    let body = TestBody(seed: 8, size: 3_000_000)
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      let headers = [("Content-Type", "audio/mpeg"), ("ETag", "\"1\""), ("Accept-Ranges", "bytes")]
      let range = request.header("range")?.dropFirst("bytes=".count).split(separator: "-").first
      guard let start = range.flatMap({ Int64($0) }) else {
        try writer.begin(200, headers, length: body.size)
        try writer.write(body.bytes(0..<2_000_000))
        throw writer.cut()
      }
      let part = ("Content-Range", "bytes \(start)-\(body.size - 1)/\(body.size)")
      try writer.respond(206, headers + [part], body: body.bytes(0..<body.size))
    }
    let client = try user.client()
    let request = TransferFixture.request(url)
    let episode = try client.opened(request)
    // The host cuts each time that it is asked for the whole.
    #expect(body.firstDifference(try episode.read(at: 0, 1_900_000), at: 0) == nil)
    #expect(eventually { user.origin.requests.count >= 3 })
    #expect(client.status(of: request.key)?.state != .cached)
    #expect(client.status(of: request.key).map { $0.received <= 2_000_000 } == true)
  }

  /// A file without a length was cut, and is shorter when it is asked for again.
  @Test func aCutFileIsNotWholeBecauseAShorterOneEndsThere() throws {
    let old = TestBody(seed: 9, size: 3_000_000)
    let new = TestBody(seed: 10, size: 1_000_000)
    let isFirst = Monitor(true)
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      let headers = [("Content-Type", "audio/mpeg"), ("ETag", "W/\"1\"")]
      if isFirst.withLock({ first in
        defer { first = false }; return first
      }) {
        try writer.begin(200, headers, length: nil)
        try writer.write(old.bytes(0..<2_000_000))
        throw writer.cut()
      }
      if let range = request.header("range"), !range.hasPrefix("bytes=0-") {
        return try writer.respond(416, [("Content-Range", "bytes */\(new.size)")], body: [UInt8]())
      }
      try writer.respond(200, headers, body: new.bytes(0..<new.size))
    }
    let client = try user.client()
    let request = TransferFixture.request(url)
    let episode = try client.opened(request)
    let bytes = try? episode.readAll()
    #expect(bytes == nil, "a cut file was read to a clean end")
    #expect(client.reaches(.cached, request))
    #expect(client.status(of: request.key)?.total == new.size)
    #expect(new.firstDifference(try client.opened(request).readAll()) == nil)
  }
}
