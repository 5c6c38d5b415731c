internal import CCurl
internal import Glibc
package import PosixKit

/// Asks http and https servers, many at once, by libcurl on a loop that others may use too. Connections are kept
/// for further requests; each transfer has one of its own, so that one that is paused, slow or dead holds up no
/// other.
///
/// Belongs to the loop's thread, which calls the receivers; from within them only `pause` and `start` may be
/// called.
package final class HTTPSession {
  package struct TaskID: Hashable, Sendable { let number: UInt64 }

  private let loop: EventLoop
  /// Made for the first request.
  private var curl: CurlMulti?
  private var transfers: [UInt64: HTTPTransfer] = [:]
  private var lastNumber: UInt64 = 0
  private var isStopped = false
  /// Whether there are requests that libcurl has not begun with.
  private var hasNew = false
  /// When transfers are looked at for what libcurl does not know of: silence.
  private var watch: (time: MonotonicTime, timer: EventLoop.Timer)?

  package init(loop: EventLoop) { self.loop = loop }

  /// Begins a request; `receiver` hears what comes of it, and its end exactly once.
  @discardableResult
  package func start(_ request: HTTPRequest, receiver: any HTTPResponseReceiver) -> TaskID {
    loop.assertCurrent()
    lastNumber += 1
    let id = lastNumber
    start(id, request, receiver)
    return TaskID(number: id)
  }

  func start(_ id: UInt64, _ request: HTTPRequest, _ receiver: any HTTPResponseReceiver) {
    if isStopped { return receiver.finished(.cancelled) }
    do throws(HTTPError) {
      let curl = try multi()
      let transfer = try HTTPTransfer(id: id, request: request, receiver: receiver, curl: curl)
      transfers[id] = transfer
      curl.add(transfer)
      hasNew = true
      attend(at: .after(min(request.stallTimeout, 1)))
    } catch {
      receiver.finished(error)
    }
  }

  /// Sends the new requests at once, not when the loop comes to it. Not to be called from within receivers.
  package func begin() {
    if !hasNew { return }
    hasNew = false
    curl?.goOn()
  }

  private func multi() throws(HTTPError) -> CurlMulti {
    if let curl { return curl }
    let made = try CurlMulti(loop: loop)
    made.acted = { [unowned self] in endFinished() }
    curl = made
    return made
  }

  /// Ends it as cancelled, unless it has ended.
  package func cancel(_ task: TaskID) { cancel(task.number) }

  func cancel(_ id: UInt64) { end(id, .cancelled) }

  /// Takes nothing more from the host, until `resume`.
  package func pause(_ task: TaskID) { transfers[task.number]?.pause() }

  /// Goes on after a pause: a piece that was refused comes again.
  package func resume(_ task: TaskID) { resume(task.number) }

  func resume(_ id: UInt64) {
    if let transfer = transfers[id], let result = transfer.resume() { end(id, .result(result)) }
  }

  /// Ends what is under way as cancelled. Requests begun afterwards end as cancelled.
  package func stop() {
    if isStopped { return }
    isStopped = true
    for id in transfers.keys.sorted() { end(id, .cancelled) }
    if let watch { loop.cancel(watch.timer) }
    curl?.close()
  }

  private func endFinished() {
    while let (id, result) = curl?.nextFinished() { end(id, .result(result)) }
  }

  /// Looks at the transfers at `time`, if not before.
  private func attend(at time: MonotonicTime) {
    if let watch, watch.time <= time { return }
    if let watch { loop.cancel(watch.timer) }
    watch = (
      time,
      loop.schedule(at: time) { [unowned self] in
        watch = nil
        attendDue()
      }
    )
  }

  /// Ends what has stalled.
  private func attendDue() {
    let now = MonotonicTime.now
    for (id, transfer) in transfers {
      if let deadline = transfer.stallDeadline, deadline <= now { end(id, .stalled) }
    }
    guard !transfers.isEmpty else { return }
    // What has no deadline now may have one soon.
    let next = transfers.values.lazy.compactMap(\.stallDeadline).min() ?? .distantFuture
    attend(at: min(next, now.adding(min(transfers.values.lazy.map(\.request.stallTimeout).min() ?? 1, 1))))
  }

  private func end(_ id: UInt64, _ ending: HTTPTransfer.Ending) {
    guard let transfer = transfers[id] else { return }
    curl?.remove(transfer)
    if transfer.follow(after: ending) {
      curl?.add(transfer)
    } else {
      transfers[id] = nil
      transfer.finish(ending)
    }
  }

  /// With CURLOPT_NOSIGNAL libcurl leaves SIGPIPE alone, and OpenSSL writes to sockets without
  /// MSG_NOSIGNAL: a peer that has gone must not end the process. To be called on the loop's thread.
  package static func blockBrokenPipeSignal() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }
}
