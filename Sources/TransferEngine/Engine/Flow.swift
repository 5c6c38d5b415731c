internal import PodcastModel

/// A response under way.
final class Flow {
  let id: FlowID
  let request: RequestPlanner.Request
  /// Whether it was sent to the address that answered before, not through the feed's redirects.
  let isDirect: Bool
  let asked: Instant
  /// Whether it brings the file's end beside the first response (`askForTail`).
  let isTail: Bool

  /// Why nothing more is taken from its host.
  struct Hold: OptionSet, Hashable {
    let rawValue: UInt8
    /// The disk has enough to do.
    static let disk = Hold(rawValue: 1)
    /// `limit_rate`.
    static let throttle = Hold(rawValue: 2)
    /// What is stored is still being opened, or a new generation created.
    static let store = Hold(rawValue: 4)
    /// Somebody waits for what another response of the same episode brings.
    static let precedence = Hold(rawValue: 8)
  }
  var holds: Hold = []

  /// A head that can't be judged before it is known what is stored.
  var head: (head: ResponseHead, firstBytes: [UInt8])?
  /// What it begins, while the files of that generation are being made.
  var verdict: (head: ResponseHead, representation: Representation, at: Int64)?
  /// What came before the verdict.
  var early: Int64 = 0
  /// Where its bytes go, from the verdict on.
  var intake: Intake?
  /// Whether the whole comes, whatever was asked for.
  var ignoresRange = false
  /// What its head says of the representation, until its bytes have agreed.
  var claim: Representation?
  /// How it has ended, while its last bytes are on their way to the disk.
  var end: ResponseFailure??
  /// Whether nothing more is to come of it: it is there for what it holds, until there are files for that.
  var isStopped = false
  /// When the oldest of what is held came.
  var heldSince: Instant?

  /// Bytes per second in its last second or two; nil before.
  private(set) var rate: Int64?
  /// Where its bytes have begun to come, and when.
  var beginning: (position: Int64, time: Instant)?
  private var measured: (position: Int64, time: Instant)?
  /// Since when nobody waits for what it brings, where there are others; nil while somebody does.
  var idleSince: Instant?
  /// What had arrived when it was last found to make progress.
  var progress: (arrived: Int64, time: Instant)?

  init(_ id: FlowID, _ request: RequestPlanner.Request, isDirect: Bool, asked: Instant, isTail: Bool = false)
  {
    self.id = id
    self.request = request
    self.isDirect = isDirect
    self.asked = asked
    self.isTail = isTail
  }

  /// Behind the last byte that has come.
  var arrived: Int64 { intake?.arrived ?? request.start }

  /// Behind the last byte that has been given to the disk.
  var position: Int64 { intake?.position ?? request.start }

  /// Whether it has brought bytes that there are no files for yet.
  var awaitsFiles: Bool { early > 0 && (head != nil || verdict != nil) }

  /// Lets go of what it holds.
  func lose() {
    (intake, head, verdict) = (nil, nil, nil)
    early = 0
  }

  /// Bytes in memory.
  var held: Int64 { intake?.held ?? early }

  /// Bytes per second of late, or since it began; nil while that says nothing.
  func rateSoFar(_ now: Instant) -> Int64? {
    if let rate { return rate }
    guard intake != nil, let beginning else { return nil }
    let seconds = now.seconds(since: beginning.time)
    return seconds < 0.2 ? nil : Int64(Double(arrived - beginning.position) / seconds)
  }

  /// Measures its rate since the last time; to be called every second.
  func measure(_ now: Instant) {
    guard intake != nil else { return }
    if let last = measured {
      // Too short a time says nothing.
      guard now > last.time.adding(0.5) else { return }
      rate = Int64(Double(max(arrived - last.position, 0)) / now.seconds(since: last.time))
    }
    measured = (arrived, now)
  }
}
