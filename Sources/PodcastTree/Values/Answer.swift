internal import Catalog
package import PosixKit
internal import TransferProtocol

/// The result of an operation: ready, or still to come.
package enum Answer<Value: Sendable>: Sendable {
  case ready(Result<Value, Errno>)
  /// Starts the operation. It calls the completion exactly once, on any thread. The returned closure gives the operation up:
  /// it then completes with EINTR, unless it has completed.
  case pending(@Sendable (@escaping @Sendable (Result<Value, Errno>) -> Void) -> @Sendable () -> Void)

  package static func value(_ value: Value) -> Answer { .ready(.success(value)) }
  package static func failure(_ errno: Errno) -> Answer { .ready(.failure(errno)) }

  package func then<Next: Sendable>(
    _ next: @escaping @Sendable (Value) -> Answer<Next>
  ) -> Answer<Next> {
    switch self {
    case .ready(.success(let value)): next(value)
    case .ready(.failure(let errno)): .failure(errno)
    case .pending(let start):
      .pending { completion in
        let stages = Stages()
        let cancel = start { result in
          switch result {
          case .failure(let errno): completion(.failure(errno))
          case .success(let value):
            switch next(value) {
            case .ready(let result): completion(result)
            case .pending(let start): stages.enter(2, start(completion))
            }
          }
        }
        stages.enter(1, cancel)
        return { stages.cancel() }
      }
    }
  }

  package func map<Next: Sendable>(_ transform: @escaping @Sendable (Value) -> Next) -> Answer<Next> {
    then { .value(transform($0)) }
  }

  package func recover(_ other: @escaping @Sendable (Errno) -> Answer) -> Answer {
    switch self {
    case .ready(.success): return self
    case .ready(.failure(let errno)): return other(errno)
    case .pending(let start):
      let asResult = Answer<Result<Value, Errno>>.pending { completion in start { completion(.success($0)) } }
      return asResult.then { result in
        switch result {
        case .success(let value): .value(value)
        case .failure(let errno): other(errno)
        }
      }
    }
  }

  func onEnd(_ note: @escaping @Sendable (Result<Value, Errno>) -> Void) -> Answer {
    switch self {
    case .ready(let result):
      note(result)
      return self
    case .pending(let start):
      return .pending { completion in
        start { result in
          note(result)
          completion(result)
        }
      }
    }
  }

  /// Begins at once. What ends before this returns is ready: nobody has to wait for it.
  static func begun(
    _ begin: (@escaping @Sendable (Result<Value, Errno>) -> Void) -> any Cancellable
  ) -> Answer {
    let outcome = Monitor<(result: Result<Value, Errno>?, waiter: Callback<Result<Value, Errno>>?)>(
      (nil, nil))
    let task = begin { result in
      let waiter = outcome.withLock { outcome in
        outcome.result = result
        return outcome.waiter
      }
      waiter?(result)
    }
    if let result = outcome.withLock({ $0.result }) { return .ready(result) }
    return .pending { completion in
      let result = outcome.withLock { outcome in
        outcome.waiter = Callback(completion)
        return outcome.result
      }
      if let result { completion(result) }
      return { task.cancel() }
    }
  }

  /// What ends in a completion; its errors become numbers.
  static func task<Failure>(
    _ begin: @escaping @Sendable (@escaping @Sendable (Result<Value, Failure>) -> Void) -> any Cancellable
  ) -> Answer {
    .pending { completion in
      let task = begin { completion($0.mapError(\.errnoForReader)) }
      return { task.cancel() }
    }
  }

  /// From memory where it is there, else after `load` on `queue`; ENOENT where it is not there then either.
  static func inMemory(
    or queue: WorkQueue, _ find: @escaping @Sendable () -> Value?, load: @escaping @Sendable () throws -> Void
  ) -> Answer {
    if let found = find() { return .value(found) }
    return .on(queue) {
      try load()
      guard let found = find() else { throw Errno.ENOENT }
      return found
    }
  }

  /// Runs a failing piece of work on `queue`: short waits, for the disk only.
  static func on(
    _ queue: WorkQueue, _ work: @escaping @Sendable () throws -> Value
  ) -> Answer {
    .pending { completion in
      queue.async { completion(Result { try work() }.mapError(\.errnoForReader)) }
      return {}
    }
  }
}

/// Gives up whichever stage of a chain is under way.
private final class Stages: Sendable {
  private struct State {
    var stage = 0
    var cancel: (@Sendable () -> Void)?
    var isCancelled = false
  }
  private let state = Monitor(State())

  /// A stage may have begun before the one before it says how it is given up.
  func enter(_ stage: Int, _ cancel: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if stage < state.stage { return false }
      state.stage = stage
      state.cancel = cancel
      return state.isCancelled
    }
    if isLate { cancel() }
  }

  func cancel() {
    let cancel = state.withLock { state in
      state.isCancelled = true
      return state.cancel
    }
    cancel?()
  }
}

extension Error {
  /// The errno that a system call gets for it: the one place where errors become numbers.
  var errnoForReader: Errno {
    switch self {
    case let errno as Errno: errno
    case let error as PosixError: error.errno
    case let error as CatalogError: error.errno == .ECANCELED ? .EINTR : error.errno
    case let error as TransferFailure: error.errno
    default: .EIO
    }
  }

  /// The same for a folder, whose dialog shows the system's words: "No data available" where the feed is gone ("No such file"
  /// would mean that the folder is deleted), "Remote I/O error" where its host fails ("Input/output error" means a disk).
  var errnoOfFolder: Errno {
    switch errnoForReader {
    case .ENOENT: .ENODATA
    case .EIO: .EREMOTEIO
    case let errno: errno
    }
  }
}
