import PodcastModel
import PosixKit
import Testing
import TransferProtocol

@Suite struct FrameTests {
  private static let key = MediaKey(address: "http://example.org/a.mp3")
  private static let request = TransferRequest(
    key: key, url: "http://example.org/a.mp3", expectedLength: 12,
    title: "Der Häfen – é", show: "", fileName: "2024-01-03 - x.mp3", allowsPrivateHosts: true,
    userAgent: nil)
  private static var status: TransferStatus {
    var status = TransferStatus(request, .downloading)
    (status.generation, status.total, status.received, status.rate) = (7, 1 << 40, 3, 5)
    (status.error, status.isKept) = ("503 from a", true)
    (status.changed, status.order, status.tries.notBefore) = (1_700_000_000, 1 << 50, 5)
    return status
  }
  private static var settings: TransferSettings {
    var settings = TransferSettings()
    settings.queued = [MediaKey(address: "http://media.example/1.mp3")]
    settings.limitRate = 5
    settings.restsOnMetered = false
    settings.restsBelowCharge = 30
    settings.hours = DailyHours(start: 22 * 60, end: 6 * 60)
    settings.proxy = "http://proxy"
    settings.proxyVariables = ["http_proxy": "http://proxy:8", "no_proxy": "a,b"]
    return settings
  }

  private static var clientMessages: [ClientMessage] {
    [
      .hello(version: 1, answersAddresses: false), .settings(settings),
      .open(id: 1, request, .fetchOnly, generation: nil), .open(id: .max, request, .download, generation: 3),
      .close(id: 2), .wait(id: 3, open: 4, offset: 5, count: 6), .endWait(id: 7, open: 4),
      .order(id: 8, .start(request)),
      .order(id: 9, .pause(request)), .order(id: 10, .drop(key)), .order(id: 12, .leave(key)),
      .order(id: 11, .setKept(request, true)),
      .freshAddress(key, "http://b"), .freshAddress(key, nil),
      .order(id: 12, .replace(key, generation: 3)), .order(id: 13, .forget(key)),
      .order(id: 14, .dropAtClose(key)),
    ]
  }

  /// As a daemon tells it that has seen it change.
  private static var momentary: TransferStatus {
    var status = status
    status.changed = 1_700_000_000_123_456_789
    return status
  }

  private static var counts: HTTPCounts {
    var counts = HTTPCounts()
    (counts.requests, counts.received, counts.networkErrors) = (3, 1 << 40, 1)
    for status in [200, 404, 416, 503] { counts.note(status: status) }
    return counts
  }

  private static var daemonMessages: [DaemonMessage] {
    [
      .welcome(version: 1, cache: "/c", runtime: "/r"), .changed([], HTTPCounts()),
      .changed([status, status], counts),
      .snapshotEnd, .answer(1, generation: 2), .answer(3, TransferFailure(.ENOSPC, "no space left")),
      .answer(6), .needAddress(key, url: "u"),
      .changed([status, momentary], counts),
    ]
  }

  /// Sums of them would overflow.
  @Test(arguments: [Int64.max, -1, 1 << 51]) func sizesBeyondAllBoundsAreRefused(_ size: Int64) throws {
    var status = Self.status
    status.received = size
    var buffer = FrameBuffer()
    buffer.append(DaemonMessage.changed([status], HTTPCounts()).frame)
    #expect(throws: BinaryError.malformed) { try buffer.next() as DaemonMessage? }
    // What a feed says is not its reader's fault.
    var request = Self.request
    request.expectedLength = size
    buffer = FrameBuffer()
    buffer.append(ClientMessage.order(id: 1, .start(request)).frame)
    request.expectedLength = nil
    #expect(try buffer.next() == ClientMessage.order(id: 1, .start(request)))
  }

  @Test func everyMessageComesAsItWasSentInWhateverPieces() throws {
    for step in [1, 3, 1000] {
      var buffer = FrameBuffer()
      let bytes = Self.clientMessages.flatMap(\.frame)
      var received: [ClientMessage] = []
      for start in stride(from: 0, to: bytes.count, by: step) {
        buffer.append(bytes[start..<min(start + step, bytes.count)])
        while let message: ClientMessage = try buffer.next() { received.append(message) }
      }
      #expect(received == Self.clientMessages)
    }
    var buffer = FrameBuffer()
    buffer.append(Self.daemonMessages.flatMap(\.frame))
    var received: [DaemonMessage] = []
    while let message: DaemonMessage = try buffer.next() { received.append(message) }
    #expect(received == Self.daemonMessages)
  }

  @Test func aFrameThatIsTooLongIsRefusedBeforeItHasCome() {
    var buffer = FrameBuffer()
    buffer.append([0xff, 0xff, 0xff, 0x7f])
    #expect(throws: BinaryError.tooLong) { let _: ClientMessage? = try buffer.next() }
  }

  @Test func aMessageWithBytesMissingOrLeftOverIsRefused() {
    for message in Self.clientMessages {
      let body = Array(message.frame.dropFirst(4))
      for count in 0..<body.count {
        #expect(throws: BinaryError.malformed) {
          _ = try ClientMessage(decoding: body[..<count])
        }
      }
      #expect(throws: BinaryError.malformed) {
        _ = try ClientMessage(decoding: (body + [0])[...])
      }
    }
  }

  @Test func noBytesMakeTheReaderTrap() {
    var random = SystemRandomNumberGenerator()
    for message in Self.daemonMessages {
      let body = Array(message.frame.dropFirst(4))
      for _ in 0..<500 {
        var hostile = body
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          hostile[Int.random(in: 0..<hostile.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        _ = try? DaemonMessage(decoding: hostile[...])
        _ = try? ClientMessage(decoding: hostile[...])
      }
    }
  }

  @Test func aTextThatIsTooLongIsCutBetweenCharacters() throws {
    let long = String(repeating: "ä", count: 20_000)
    var request = Self.request
    request.title = long
    let frame = ClientMessage.order(id: 1, .start(request)).frame
    #expect(frame.count < Frames.longest)
    let message = try ClientMessage(decoding: frame[4...])
    guard case .order(_, let order) = message, let received = order.request else {
      throw BinaryError.malformed
    }
    #expect(long.hasPrefix(received.title))
    #expect(received.title.utf8.count == 16 << 10)
  }

  @Test func storedSettingsAreReadAgain() throws {
    #expect(try TransferSettings(decoding: Self.settings.encoded[...]) == Self.settings)
    #expect(throws: BinaryError.malformed) { try TransferSettings(decoding: [1, 2, 3]) }
  }
}
