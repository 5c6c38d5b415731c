internal import Catalog
package import PosixKit
internal import TransferProtocol

package enum Answer<Value: Sendable>: Sendable {
  package typealias Completion = @Sendable (Result<Value, Errno>) -> Void
  case ready(Result<Value, Errno>)
  /// Starts the operation. It calls the completion exactly once, on any thread; given up, with EINTR.
  case pending(@Sendable (Cancellation, @escaping Completion) -> Void)
  package static func value(_ value: Value) -> Answer { .ready(.success(value)) }
  package static func failure(_ errno: Errno) -> Answer { .ready(.failure(errno)) }

  package func run(_ cancellation: Cancellation, _ completion: @escaping Completion) {
    switch self {
    case .ready(let result): completion(result)
    case .pending(let start): start(cancellation, completion)
    }
  }

  private func whenEnded<Next: Sendable>(
    _ next: @escaping @Sendable (Result<Value, Errno>) -> Answer<Next>
  ) -> Answer<Next> {
    switch self {
    case .ready(let result): next(result)
    case .pending(let start):
      .pending { cancellation, completion in start(cancellation) { next($0).run(cancellation, completion) } }
    }
  }

  package func then<Next: Sendable>(_ next: @escaping @Sendable (Value) -> Answer<Next>) -> Answer<Next> {
    whenEnded { result in
      switch result {
      case .success(let value): next(value)
      case .failure(let errno): .failure(errno)
      }
    }
  }

  package func map<Next: Sendable>(_ transform: @escaping @Sendable (Value) -> Next) -> Answer<Next> {
    whenEnded { .ready($0.map(transform)) }
  }

  package func recover(_ other: @escaping @Sendable (Errno) -> Answer) -> Answer {
    whenEnded { result in if case .failure(let errno) = result { other(errno) } else { .ready(result) } }
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
    return .pending { cancellation, completion in
      let result = outcome.withLock { outcome in
        outcome.waiter = Callback(completion)
        return outcome.result
      }
      if let result { return completion(result) }
      cancellation.begin { { task.cancel() } }
    }
  }

  /// What ends in a completion; its errors become numbers.
  static func task<Failure>(
    _ begin: @escaping @Sendable (@escaping @Sendable (Result<Value, Failure>) -> Void) -> any Cancellable
  ) -> Answer {
    .pending { cancellation, completion in
      cancellation.begin {
        let task = begin { completion($0.mapError(\.errnoForReader)) }
        return { task.cancel() }
      }
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
    .pending { _, completion in queue.async { completion(Result { try work() }.mapError(\.errnoForReader)) } }
  }
}

/// Gives up whichever stage of an answer is under way.
package final class Cancellation: Sendable {
  private struct State {
    var stage = 0
    var giveUp: Callback<Void>?
    var isCancelled = false
  }
  private let state = Monitor(State())
  package init() {}

  /// - Parameter start: gives what ends the stage early; that does nothing once the stage has ended.
  func begin(_ start: () -> @Sendable () -> Void) {
    let stage = state.withLock { state in
      state.stage += 1
      return state.stage
    }
    let giveUp = Callback(start())
    let isLate = state.withLock { state in
      // The next stage may have begun by now.
      if stage < state.stage { return false }
      state.giveUp = giveUp
      return state.isCancelled
    }
    if isLate { giveUp() }
  }

  package func cancel() {
    let giveUp = state.withLock { state in
      state.isCancelled = true
      return state.giveUp
    }
    giveUp?()
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
