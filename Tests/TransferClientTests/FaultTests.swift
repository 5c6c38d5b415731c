import Configuration
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What passes is tried again and keeps every byte (Documentation/Semantics.md, Reading).
@Suite struct PassingFaultTests {
  let user: TransferFixture
  let body = TestBody(seed: 11, size: 2_000_000)

  init() throws { user = try TransferFixture() }

  /// Reads all of an episode whose first answers go wrong as `plan` says.
  /// - Returns: the client, after all bytes were compared.
  @discardableResult
  private func heal(
    _ plan: [OriginBehaviour], _ change: (inout OriginResource) -> Void = { _ in }
  ) throws -> TransferClient {
    let request = user.serve(body) { resource in
      resource.plan = plan
      change(&resource)
    }
    let client = try user.client { $0.stallTimeout = 5 }
    let episode = try client.opened(request)
    #expect(episode.size == body.size)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(client.status(of: request.key)?.error == nil)
    return client
  }

  /// Bytes sent beyond the size.
  private var waste: Int64 { user.origin.sent("/a.mp3") - body.size }

  @Test func cutConnectionsGoOnWhereTheyWereCut() throws {
    try heal([.with { $0.cutAfter = 700_000 }, .with { $0.cutAfter = 600_000 }])
    #expect(waste == 0)
    #expect(user.origin.requests.map(\.range) == [nil, "bytes=700000-", "bytes=1300000-"])
  }

  @Test func aResetConnectionGoesOn() throws {
    try heal([.with { $0.resetAfter = 900_000 }])
    #expect(waste <= 900_000)
    #expect(user.origin.requests.count == 2)
  }

  @Test func aStallIsGivenUpAfterItsTimeAndGoesOn() throws {
    try heal([.with { $0.stallAfter = 500_000 }])
    #expect(waste == 0)
  }

  @Test func aServerThatHangsUpIsAskedAgain() throws {
    try heal([.with { $0.refusesToAnswer = true }])
    #expect(user.origin.requests.count == 2)
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504])
  func aStatusThatPassesIsTriedAgain(_ status: Int) throws {
    try heal([.with { $0.status = status }])
    #expect(user.origin.requests.count == 2)
  }

  @Test func retryAfterIsWaitedFor() throws {
    let start = MonotonicTime.now
    try heal([
      .with {
        $0.status = 503
        $0.retryAfter = "2"
      }
    ])
    #expect(MonotonicTime.now.seconds(since: start) >= 2)
    #expect(user.origin.requests.count == 2)
  }

  @Test func theErrorSaysWhatIsWaitedFor() throws {
    let request = user.serve(body, .with { $0.status = 503 })
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(
      eventually { client.status(of: request.key)?.error == "HTTP 503 (server error) from 127.0.0.1" })
    #expect(client.reaches(.queued, request))
  }

  @Test func aPartFromAnotherStartIsPutInItsPlace() throws {
    try heal([.with { $0.cutAfter = 700_000 }, .with { $0.rangeShift = -100_000 }])
    #expect(waste == 100_000)
  }

  @Test func aPartFromALaterStartLeavesNoHole() throws {
    try heal([.with { $0.cutAfter = 700_000 }, .with { $0.rangeShift = 100_000 }])
    #expect(waste == 0, "\(user.origin.requests.map { "\($0.range ?? "whole"): \($0.sent)" })")
  }

  @Test func anIgnoredRangeIsReadThroughWhereItIsTheSameFile() throws {
    try heal([.with { $0.cutAfter = 700_000 }, .with { $0.ignoresRange = true }])
    #expect(waste == 700_000)
    #expect(user.origin.requests.count == 2)
  }

  @Test func aRefusedRangeBeginsAnew() throws {
    try heal([.with { $0.cutAfter = 700_000 }, .with { $0.refusesRange = true }])
    #expect(user.origin.requests.count == 3)
  }

  @Test func withoutValidatorsAnOverlapTellsThatItIsTheSame() throws {
    let bare = OriginBehaviour.with { $0.omitsValidators = true }
    var cut = bare
    cut.cutAfter = 700_000
    try heal([cut]) { $0.behaviour = bare }
    #expect(waste == 65_536)
    #expect(user.origin.requests.last?.range == "bytes=634464-")
  }

  @Test func aBodyWithoutALengthIsReadToItsEnd() throws {
    let request = user.serve(
      body,
      .with {
        $0.omitsLength = true
        $0.rate = 8_000_000
      })
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(episode.size == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(episode.size == body.size)
    #expect(client.reaches(.cached, request))
    #expect(client.status(of: request.key)?.total == body.size)
  }

  @Test func redirectsAndTheirCookiesAreFollowed() throws {
    let client = try heal([]) { resource in
      resource.behaviour = .with {
        $0.redirects = 8
        $0.needsCookie = true
      }
    }
    _ = client
  }

  @Test func aHostThatComesBackIsAskedAgain() throws {
    // A port that nobody listens on, until somebody does.
    let port: UInt16
    do {
      let gone = try OriginServer()
      port = gone.port
      gone.stop()
    }
    let request = TransferFixture.request("http://127.0.0.1:\(port)/a.mp3")
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { client.status(of: request.key)?.error?.contains("127.0.0.1") == true })
    #expect(client.status(of: request.key)?.state == .queued)
    let back = try OriginServer(port: port)
    back.serve("/a.mp3", OriginResource(body))
    #expect(client.reaches(.cached, request))
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
  }
}

/// What stays is failed at once.
@Suite struct LastingFaultTests {
  let user: TransferFixture
  let body = TestBody(seed: 12, size: 300_000)

  init() throws { user = try TransferFixture() }

  /// Opens what can't be had.
  /// - Returns: the error that the open ended with and that the status tells.
  private func fail(
    _ behaviour: OriginBehaviour, as state: TransferState = .failed,
    _ change: (inout OriginResource) -> Void = { _ in }
  ) throws -> String? {
    let request = user.serve(body, behaviour, change)
    let client = try user.client()
    let failure = client.openFailure(request)
    #expect(failure?.errno == .EIO)
    #expect(client.status(of: request.key)?.state == state)
    #expect(client.status(of: request.key)?.error == failure?.message)
    // What stays queued is tried again by itself.
    if state == .queued { return failure?.message }
    // Not tried again within ten seconds.
    let asked = user.origin.requests.count
    #expect(client.openFailure(request)?.message == failure?.message)
    #expect(user.origin.requests.count == asked)
    return failure?.message
  }

  @Test(
    arguments: [
      (404, "HTTP 404 (not found) from 127.0.0.1"), (410, "HTTP 410 (gone) from 127.0.0.1"),
      (403, "HTTP 403 (refused) from 127.0.0.1"),
      (451, "HTTP 451 (refused for legal reasons) from 127.0.0.1"),
      (400, "HTTP 400 from 127.0.0.1"),
    ])
  func aStatusThatStaysFails(_ status: Int, _ words: String) throws {
    #expect(try fail(.with { $0.status = status }) == words)
  }

  @Test func theLogSaysWhatFailed() throws {
    let client = try user.client()
    let gone = user.serve(TestBody(seed: 1, size: 10), at: "/gone.mp3", .with { $0.status = 410 })
    #expect(client.openFailure(gone) != nil)
    #expect(
      eventually {
        let log = (try? Directories.read(user.places.logFile)) ?? []
        return String(decoding: log, as: UTF8.self)
          .contains("cannot download Show – Title: HTTP 410 (gone) from 127.0.0.1")
      })
  }

  @Test func whatIsCompressedUnaskedFails() throws {
    #expect(
      try fail(.with { $0.compresses = true }) == "127.0.0.1 compresses the file though nobody asked for that"
    )
  }

  @Test func aWebPageIsNoEpisode() throws {
    #expect(
      try fail(.with { $0.isWebPage = true }, as: .queued) == "127.0.0.1 sent a web page instead of audio")
  }

  @Test func aWebPageThatIsCalledAudioIsNoEpisode() throws {
    let message = try fail(OriginBehaviour(), as: .queued) { resource in
      resource.content = .bytes(Array("\n<!DOCTYPE HTML><html>log in</html>".utf8))
    }
    #expect(message == "127.0.0.1 sent a web page instead of audio")
  }

  @Test func aJSONDocumentIsNoEpisode() throws {
    let message = try fail(OriginBehaviour(), as: .queued) { resource in
      resource.content = .bytes(Array(#"{"error": "expired"}"#.utf8))
      resource.mediaType = "application/json"
    }
    #expect(message == "127.0.0.1 sent a JSON document instead of audio")
  }

  @Test func aRedirectLoopFails() throws {
    #expect(try fail(.with { $0.redirectsForEver = true })?.contains("redirect") == true)
  }

  @Test func anAddressThatIsNoWebAddressFails() throws {
    let client = try user.client()
    let request = TransferFixture.request("ftp://127.0.0.1/a.mp3")
    #expect(client.openFailure(request)?.errno == .EIO)
    #expect(client.status(of: request.key)?.state == .failed)
  }

  @Test func aPrivateAddressIsRefusedToAPublicFeed() throws {
    var request = user.serve(body)
    request.allowsPrivateHosts = false
    let client = try user.client()
    #expect(client.openFailure(request)?.errno == .EIO)
    #expect(client.status(of: request.key)?.state == .failed)
    #expect(user.origin.requests.isEmpty)
  }

  @Test func aWebPageOnTheWayDropsNoByteThatCame() throws {
    let request = user.serve(body) { resource in
      resource.plan = [.with { $0.cutAfter = 100_000 }, .with { $0.isWebPage = true }]
    }
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests.count == 3)
    #expect(user.origin.sent("/a.mp3") <= body.size + 1000)
  }

  @Test func anExpiredAddressIsRenewedOnce() throws {
    let request = user.serve(body, .with { $0.requiredQuery = "token=fresh" })
    let fresh = request.url + "?token=fresh"
    let client = try user.client()
    client.setAddressHandler { [weak client] key, url in
      client?.freshAddress(key, url == request.url ? fresh : nil)
    }
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(user.origin.requests.map(\.target) == ["/a.mp3", "/a.mp3?token=fresh"])
    #expect(client.status(of: request.key)?.url == fresh)
  }
}
