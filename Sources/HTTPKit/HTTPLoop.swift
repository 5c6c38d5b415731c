internal import CCurl
internal import Glibc
internal import PosixKit

/// The client's thread: one multi handle, driven by curl_multi_poll; other threads send it commands and wake
/// it by curl_multi_wakeup.
///
/// Invariant: `transfers` and every easy handle are touched by the thread in `run` only; `inbox` is the one
/// way in. That makes it Sendable.
final class HTTPLoop: @unchecked Sendable {
  enum Command: Sendable {
    case start(UInt64, HTTPRequest, any HTTPResponseReceiver)
    case cancel(UInt64)
    case resume(UInt64)
    case limit(UInt64, Int64?)
  }

  private struct Inbox: ~Copyable {
    var commands: [Command] = []
    var isStopping = false
    /// The multi handle is gone: nothing may wake it.
    var isClosed = false
  }

  private let inbox = Monitor(Inbox())
  private let curl: CurlMulti
  private var transfers: [UInt64: HTTPTransfer] = [:]

  init() { curl = CurlMulti() }

  func submit(_ command: Command) {
    let isTaken = inbox.withLock { inbox in
      if inbox.isClosed { return false }
      inbox.commands.append(command)
      curl.wakeUp()
      return true
    }
    // The thread has ended; a thread of its own keeps the promise that no caller is called back.
    if !isTaken, case .start(_, _, let receiver) = command {
      PosixThread.start("http-end") { receiver.finished(.cancelled) }
    }
  }

  func stop() {
    inbox.withLock { inbox in
      if inbox.isClosed { return }
      inbox.isStopping = true
      curl.wakeUp()
    }
  }

  func run() {
    Self.blockBrokenPipeSignal()
    while true {
      let (commands, isStopping) = inbox.withLock { inbox in
        let commands = inbox.commands
        inbox.commands = []
        return (commands, inbox.isStopping)
      }
      for command in commands { execute(command) }
      if isStopping { break }
      curl.perform()
      while let (id, result) = curl.nextFinished() { end(id, .result(result)) }
      attendDue()
      curl.poll(until: transfers.values.lazy.compactMap(\.deadline).min() ?? .distantFuture)
    }
    for id in transfers.keys.sorted() { end(id, .cancelled) }
    close()
  }

  /// What came in after the last look at the inbox ends as cancelled, then nothing more is taken.
  private func close() {
    let left = inbox.withLock { inbox in
      inbox.isClosed = true
      let left = inbox.commands
      inbox.commands = []
      return left
    }
    for case .start(_, _, let receiver) in left { receiver.finished(.cancelled) }
    curl.close()
  }

  private func execute(_ command: Command) {
    switch command {
    case .start(let id, let request, let receiver):
      do throws(HTTPError) {
        let transfer = try HTTPTransfer(id: id, request: request, receiver: receiver, curl: curl)
        transfers[id] = transfer
        curl.add(transfer)
      } catch {
        receiver.finished(error)
      }
    case .cancel(let id): end(id, .cancelled)
    case .resume(let id):
      if let transfer = transfers[id], let result = transfer.resume() { end(id, .result(result)) }
    case .limit(let id, let limit): transfers[id]?.limit(limit)
    }
  }

  /// Ends what has stalled, and lets go on what the rate limit held.
  private func attendDue() {
    let now = MonotonicTime.now
    for (id, transfer) in transfers {
      if let deadline = transfer.stallDeadline, deadline <= now { end(id, .stalled) }
      if let result = transfer.resumeHeld(now) { end(id, .result(result)) }
    }
  }

  private func end(_ id: UInt64, _ ending: HTTPTransfer.Ending) {
    guard let transfer = transfers.removeValue(forKey: id) else { return }
    curl.remove(transfer)
    transfer.finish(ending)
  }

  /// With CURLOPT_NOSIGNAL libcurl leaves SIGPIPE alone, and OpenSSL writes to sockets without
  /// MSG_NOSIGNAL: a peer that has gone must not end the process.
  private static func blockBrokenPipeSignal() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }
}
