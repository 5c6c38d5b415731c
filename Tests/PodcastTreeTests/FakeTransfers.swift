import PodcastModel
import PosixKit
import TransferProtocol

/// Transfers in memory: the test says what comes of them.
final class FakeTransfers: TransferService {

  struct State {
    var statuses: [MediaKey: TransferStatus] = [:]
    var observer: (@Sendable (MediaKey) -> Void)?
    var opened: [(request: TransferRequest, intent: OpenIntent)] = []
    var started: [MediaKey] = []
    var dropped: [MediaKey] = []
    var left: [MediaKey] = []
    var protected: [MediaKey] = []
    /// What an open gives; nil keeps it waiting.
    var outcome: Result<FakeEpisode, TransferFailure>?
    var waiting: [FakeWait] = []
    var answers: [Callback<Result<FakeEpisode, TransferFailure>>] = []
  }
  let state = Monitor(State())

  func status(of key: MediaKey) -> TransferStatus? { state.withLock { $0.statuses[key] } }
  func allStatuses() -> [TransferStatus] { state.withLock { Array($0.statuses.values) } }
  func observe(_ observer: @escaping @Sendable (MediaKey) -> Void) {
    state.withLock { $0.observer = observer }
  }

  let steered = Monitor(Steering())
  var steering: Steering { steered.withLock { $0 } }
  func steer(_ steering: Steering) { steered.withLock { $0 = steering } }
  var failure: String? { nil }
  var httpCounts: HTTPCounts { HTTPCounts() }

  func note(_ failure: TransferFailure, ofReading request: TransferRequest) {
    var status = status(of: request.key) ?? TransferStatus(request)
    status.readFailure = failure.message
    set(status)
  }

  func set(_ status: TransferStatus) {
    let observer = state.withLock { state in
      state.statuses[status.key] = status
      return state.observer
    }
    observer?(status.key)
  }

  func open(
    _ request: TransferRequest, intent: OpenIntent,
    completion: @escaping @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void
  ) -> any Cancellable {
    let wait = FakeWait { completion(.failure(TransferFailure(.EINTR, "cancelled"))) }
    let outcome = state.withLock { state in
      state.opened.append((request, intent))
      if state.outcome == nil {
        state.waiting.append(wait)
        state.answers.append(Callback { completion($0.map { $0 }) })
      }
      return state.outcome
    }
    if let outcome { completion(outcome.map { $0 }) }
    return wait
  }

  /// Answers the opens that wait.
  func answerOpens(_ outcome: Result<FakeEpisode, TransferFailure>) {
    let answers = state.withLock { state in
      defer { state.answers = [] }
      return state.answers
    }
    for answer in answers { answer(outcome) }
  }

  func order(_ order: TransferOrder, completion: @escaping OrderCompletion) -> any Cancellable {
    var status = status(of: order.key) ?? TransferStatus(order.request ?? TransferRequest(key: order.key))
    switch order.verb {
    case .start:
      state.withLock { $0.started.append(order.key) }
      status = TransferStatus(status.request, .queued)
    case .pause: status = TransferStatus(status.request, .paused)
    case .keep, .unkeep: status.isKept = order.verb == .keep
    case .leave:
      state.withLock { $0.left.append(order.key) }
      status.state = .remote
    case .drop, .dropAtClose, .forget, .replace:
      state.withLock { $0.dropped.append(order.key) }
      status = TransferStatus(status.request)
    }
    set(status)
    completion(nil)
    return FakeWait {}
  }

  func protect(_ keys: [MediaKey]) { state.withLock { $0.protected = keys } }
}

/// Something that waits until it is cancelled.
final class FakeWait: Cancellable {
  private let onCancel: Monitor<Callback<Void>?>

  init(_ onCancel: @escaping @Sendable () -> Void) { self.onCancel = Monitor(Callback(onCancel)) }

  func cancel() {
    onCancel.withLock { action in
      defer { action = nil }
      return action
    }?()
  }
}

/// An open episode all of whose bytes are here.
final class FakeEpisode: OpenEpisode {
  let generation: UInt32
  var size: Int64? { known.withLock { $0 } }
  let closes = Monitor(0)
  private let known: Monitor<Int64?>
  private let told: Int64?
  private let cached: Int64

  /// - Parameters:
  ///   - told: the size that is known when somebody has waited for a byte.
  ///   - cached: how much is here where the size is not known.
  init(generation: UInt32, size: Int64?, told: Int64? = nil, cached: Int64 = 0) {
    self.generation = generation
    self.told = told
    self.cached = cached
    known = Monitor(size)
  }

  func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    if size == nil, cached > 0, offset >= cached { return nil }
    let count = min(buffer.count, Int(max(0, (size ?? cached) - offset)))
    for index in 0..<count { buffer[index] = UInt8(truncatingIfNeeded: offset + Int64(index)) }
    return count
  }

  func countCached(at offset: Int64, upTo count: Int) -> Int { min(count, Int(max(0, (size ?? 0) - offset))) }
  var isWhole: Bool { size != nil }

  func whenAvailable(
    at offset: Int64, count: Int, completion: @escaping @Sendable (TransferFailure?) -> Void
  ) -> any Cancellable {
    known.withLock { $0 = $0 ?? told }
    completion(nil)
    return FakeWait {}
  }

  func close() { closes.withLock { $0 += 1 } }
}
