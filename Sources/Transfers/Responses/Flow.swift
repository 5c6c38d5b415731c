internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// One response under way, on the HTTP client's thread: holds its bytes back until the engine has judged its
/// head, then puts them where they belong.
final class Flow: HTTPResponseReceiver {
  /// What the engine hears, in order.
  enum Event: Sendable {
    /// The head, and the first bytes of the body where they are needed to judge it.
    case head(HTTPResponseHead, firstBytes: [UInt8])
    /// Enough has been the same as stored bytes to show that it is the same representation.
    case agreed
    /// It is held back, to be resumed after this many seconds.
    case throttled(Double)
    /// It has written what it may, and is held back until it may write more.
    case exhausted
    /// All of a range that someone waits for is there.
    case came
    /// Enough is written that it should go to the disk.
    case unsynchronized
    /// The rest that it would bring is stored already. It has ended.
    case reachedStored
    /// Its bytes are not the stored ones, or can't be shown to be. It has ended.
    case differs
    /// A 200 without a single byte. It has ended.
    case empty(HTTPResponseHead)
    /// They could not be written. It has ended.
    case disk(PosixError)
    /// The end; nil where the whole body came.
    case ended(HTTPError?)
  }

  private struct State: ~Copyable {
    var sink: Sink?
    /// A head whose first bytes are awaited, and those that have come.
    var head: HTTPResponseHead?
    var early: [UInt8] = []
    /// Whether body came before the engine's verdict.
    var isHeld = false
    var isCancelled = false
    var isThrottled = false
    var ignoresRange = false
    var claim: Representation?
    /// Bytes that it may write; nil for any. And whether it waits for more.
    var grant: Int64?
    var isExhausted = false
    var measured: (position: Int64, time: MonotonicTime)?
    var rate: Int64?
  }

  let request: RequestPlanner.Request
  /// Whether it was sent to the address that answered before, not through the feed's redirects.
  let isDirect: Bool
  private let throttle: Throttle
  private let state = Monitor(State())
  private let post: @Sendable (Flow, Event) -> Void

  init(
    _ request: RequestPlanner.Request, isDirect: Bool, throttle: Throttle,
    post: @escaping @Sendable (Flow, Event) -> Void
  ) {
    self.throttle = throttle
    self.request = request
    self.isDirect = isDirect
    self.post = post
  }

  /// Where the next byte goes.
  var position: Int64 { state.withLock { $0.sink?.position ?? request.start } }

  /// Bytes per second, as last measured; nil in its first second or two.
  var rate: Int64? { state.withLock { $0.rate } }

  /// Measures its rate since the last time; to be called every second.
  func measure(_ now: MonotonicTime = .now) {
    state.withLock { state in
      guard let position = state.sink?.position else { return }
      if let last = state.measured {
        // Too short a time says nothing.
        guard now > last.time.adding(0.5) else { return }
        state.rate = Int64(Double(position - last.position) / now.seconds(since: last.time))
      }
      state.measured = (position, now)
    }
  }

  /// Lets the bytes through. Answers whether the task must be resumed, and what came of the bytes that were
  /// there already.
  func begin(_ sink: Sink) -> (isHeld: Bool, event: Event?) {
    state.withLock { state in
      state.sink = sink
      state.measured = (sink.position, .now)
      defer { state.isHeld = false }
      let event = state.early.isEmpty ? nil : state.early.withUnsafeBytes { state.sink?.take($0) }
      state.early = []
      return (state.isHeld, event)
    }
  }

  /// Whether it keeps to `limit_rate`.
  var isThrottled: Bool {
    get { state.withLock { $0.isThrottled } }
    set { state.withLock { $0.isThrottled = newValue } }
  }

  /// Whether the whole comes, whatever was asked for.
  var ignoresRange: Bool {
    get { state.withLock { $0.ignoresRange } }
    set { state.withLock { $0.ignoresRange = newValue } }
  }

  /// What its head says of the representation, until its bytes have agreed.
  var claim: Representation? {
    get { state.withLock { $0.claim } }
    set { state.withLock { $0.claim = newValue } }
  }

  /// Lets it write so many bytes from now on; nil for any.
  /// - Returns: whether the task must be resumed.
  func grant(_ bytes: Int64?) -> Bool {
    state.withLock { state in
      state.grant = bytes
      defer { state.isExhausted = false }
      return state.isExhausted
    }
  }

  /// Nothing more is written, from when this returns.
  func close() { state.withLock { $0.isCancelled = true } }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    // What gives a file's beginning must show first that it is no web page.
    if head.status == 200 || head.contentRange?.range?.lowerBound == 0 {
      state.withLock { $0.head = head }
    } else {
      post(self, .head(head, firstBytes: []))
    }
    return .proceed
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    if let answer = showBeginning(body) { return answer }
    let (isHeld, isCancelled, isThrottled) = state.withLock { state in
      if state.sink == nil { state.isHeld = true }
      return (state.isHeld, state.isCancelled, state.isThrottled)
    }
    if isCancelled { return .abort }
    if isHeld { return .pause }
    if isThrottled, let delay = throttle.take(body.count) {
      post(self, .throttled(delay))
      return .pause
    }
    // The lock is held while writing, so that `close` waits for it.
    let event: Event? = state.withLock { state in
      guard !state.isCancelled, state.sink != nil else { return nil }
      if let grant = state.grant {
        if grant < body.count {
          state.isExhausted = true
          return .exhausted
        }
        state.grant = grant - Int64(body.count)
      }
      return state.sink?.take(body)
    }
    guard let event else { return .proceed }
    post(self, event)
    switch event {
    case .exhausted: return .pause
    case .came, .unsynchronized, .agreed, .throttled: return .proceed
    default: return .abort
    }
  }

  /// Gives the engine the head, as soon as enough has come to tell what it is of.
  /// - Returns: what becomes of `body` where its turn has not come yet.
  private func showBeginning(_ body: UnsafeRawBufferPointer) -> HTTPFlow? {
    let (head, bytes, isUndecided) = state.withLock { state -> (HTTPResponseHead?, [UInt8], Bool) in
      guard let head = state.head else { return (nil, [], false) }
      let bytes = state.early + body.prefix(ContentKind.decisive - state.early.count)
      if ContentKind.isUndecided(bytes) {
        state.early = bytes
        return (head, bytes, true)
      }
      state.head = nil
      return (head, bytes, false)
    }
    guard let head else { return nil }
    if isUndecided { return .proceed }
    post(self, .head(head, firstBytes: bytes))
    return nil
  }

  func finished(_ error: HTTPError?) {
    let (head, bytes) = state.withLock { state in
      let head = state.head
      state.head = nil
      return (head, state.early)
    }
    // Too few bytes to tell count only where they are all of it.
    if let head, error == nil {
      if bytes.isEmpty { return post(self, .empty(head)) }
      post(self, .head(head, firstBytes: bytes))
    }
    post(self, .ended(error))
  }
}
