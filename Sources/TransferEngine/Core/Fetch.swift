internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

struct Fetch: Hashable {
  let id: FlowID
  let request: Range<Int64>
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
    /// Its bytes go to the disk, since then.
    case feeding(Instant)
  }
  var head: ResponseHead?
  /// What has come. Before `feeding` it is only held.
  var intake: Intake
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

  var began: Instant? { if case .feeding(let since) = stage { since } else { nil } }
  var isFeeding: Bool { began != nil }
  var isConfirmed: Bool { isFeeding && intake.agreeing <= 0 }
  var hasEnded: Bool { if case .ended = ending { true } else { false } }

  /// Bytes per second since it began; nil while that says nothing.
  func rate(_ now: Instant) -> Int64? {
    guard let seconds = began.map({ now.seconds(since: $0) }), seconds >= 0.2 else { return nil }
    return Int64(Double(intake.arrived - intake.start) / seconds)
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
    let begun: Instant
  }

  var mayDownload: Bool { intent == .download || (intent == .downloadAtRead && hasRead) }
}
