internal import PodcastModel
internal import TransferProtocol

/// A request for an enclosure, and its response.
struct Fetch: Hashable {
  let id: FlowID
  let request: RequestedRange
  /// Whether it was sent to the address that answered before, not through the feed's redirects.
  let isDirect: Bool
  /// Whether it brings the file's end beside the first response (`askForTail`).
  let isTail: Bool
  let asked: Instant
  var stage = Stage.asked

  enum Stage: Hashable {
    case asked
    /// Its head waits until it is known what is stored.
    case answered(firstBytes: [UInt8])
    /// It begins a generation whose files are being made; its bytes begin at `at`.
    case begins(Representation, at: Int64)
  }
  var head: ResponseHead?
  /// Bytes that came before there were files for them.
  var early: Int64 = 0
  var intake: Intake?
  /// What its head says of the representation, until its bytes have agreed.
  var claim: Representation?
  /// Whether nothing more is taken from its host for now.
  var isHeld = false
  var ending = Ending.none

  enum Ending: Hashable {
    case none
    /// It has ended, and its last bytes are on their way to the disk.
    case ended(Fault?)
  }
  /// Where its bytes have begun to come, and when.
  var beginning = Beginning(position: 0, time: Instant(nanoseconds: 0))

  struct Beginning: Hashable {
    var position: Int64
    var time: Instant
  }

  var arrived: Int64 { intake?.arrived ?? request.start }

  /// Behind the last byte that has been given to the disk.
  var position: Int64 { intake?.position ?? request.start }

  var held: Int64 { intake?.held ?? early }

  var isConfirmed: Bool { intake.map { $0.agreeing <= 0 } ?? false }

  var hasEnded: Bool { if case .ended = ending { true } else { false } }

  var hasProgress: Bool { position >= request.start + Retry.progress }

  mutating func feed(_ intake: Intake, at now: Instant) {
    stage = .asked
    self.intake = intake
    beginning = Beginning(position: intake.position, time: now)
  }

  /// - Returns: false where its body is longer than it may be: the rest counts for nothing.
  mutating func came(_ count: Int64) -> Bool {
    if intake == nil { early += count }
    return intake?.came(count) ?? true
  }

  /// Bytes per second since it began; nil while that says nothing.
  func rate(_ now: Instant) -> Int64? {
    guard intake != nil else { return nil }
    let seconds = now.seconds(since: beginning.time)
    return seconds < 0.2 ? nil : Int64(Double(arrived - beginning.position) / seconds)
  }
}

struct Reader: Hashable {
  let name: ClientNumber
  let intent: OpenIntent
  /// Which copy it reads; nil until it has one.
  var generation: UInt32?
  let begun: Instant
  /// Whether a read has come (which makes `downloadAtRead` download).
  var hasRead = false
  /// Whether the client still waits for the answer to its open.
  var isOpening = true
  var waits: [Wait] = []

  struct Wait: Hashable {
    let id: UInt64
    let range: Range<Int64>
    /// Grows from wait to wait, of whatever client.
    let number: UInt64
    let begun: Instant
  }

  var mayDownload: Bool { intent == .download || (intent == .downloadAtRead && hasRead) }
}
