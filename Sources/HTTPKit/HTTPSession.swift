internal import CCurl
internal import Glibc
package import PosixKit
internal import Synchronization

/// Asks http and https servers, many at once, by libcurl on a loop that others may use too
/// (curl_multi_socket_action(3)). Connections are kept for further requests; each transfer has one of its own, so that
/// one that is paused, slow or dead holds up no other.
///
/// Used on the loop's thread only, which calls the receivers: that makes it Sendable. From within receivers only `pause` and
/// `start` may be called.
package final class HTTPSession: @unchecked Sendable {
  package struct TaskID: Hashable, Sendable {
    private static let last = Atomic<UInt64>(0)
    private let number = last.wrappingAdd(1, ordering: .relaxed).newValue
  }

  private let loop: EventLoop
  /// libcurl's handle for all transfers: made for the first request, which loads libcurl.
  private var multi: UnsafeMutableRawPointer?
  private var transfers: [TaskID: HTTPTransfer] = [:]
  private var isStopped = false
  /// Whether there are requests that libcurl has not begun with.
  private var hasNew = false
  private var timer: EventLoop.Timer?
  private var sockets: Set<Int32> = []
  /// When transfers are looked at for silence, of which libcurl knows nothing.
  private var silence: EventLoop.Timer?

  package init(loop: EventLoop) { self.loop = loop }

  /// Begins a request. `receiver` hears its end exactly once.
  @discardableResult
  package func start(
    _ request: HTTPRequest, receiver: any HTTPResponseReceiver, as id: TaskID = TaskID()
  ) -> TaskID {
    loop.assertCurrent()
    if isStopped {
      receiver.finished(.cancelled)
      return id
    }
    do throws(HTTPError) {
      let multi = try open()
      let transfer = try HTTPTransfer(id, request, receiver)
      transfers[id] = transfer
      podcastfs_curl_multi_add_handle(multi, transfer.easy)
      hasNew = true
      watchSilence()
    } catch {
      receiver.finished(error)
    }
    return id
  }

  /// Sends the new requests at once, not when the loop comes to it. Not to be called from within receivers.
  package func begin() {
    if !hasNew { return }
    hasNew = false
    act(CURL_SOCKET_TIMEOUT, 0)
  }

  package func cancel(_ id: TaskID) { end(id, .cancelled) }

  /// Stops reading from the host until `resume`. The receiver still gets the bytes that libcurl has read already.
  package func pause(_ id: TaskID) { transfers[id]?.pause() }

  package func resume(_ id: TaskID) {
    if let transfer = transfers[id], let result = transfer.resume() { end(id, .result(result)) }
  }

  package func stop() {
    if isStopped { return }
    isStopped = true
    for id in transfers.keys { end(id, .cancelled) }
    if let multi { podcastfs_curl_multi_cleanup(multi) }
    multi = nil
    for socket in sockets { loop.unwatch(socket) }
    for timer in [timer, silence] { if let timer { loop.cancel(timer) } }
  }

  private func end(_ id: TaskID, _ ending: HTTPTransfer.Ending) {
    guard let multi, let transfer = transfers[id] else { return }
    podcastfs_curl_multi_remove_handle(multi, transfer.easy)
    if transfer.follow(after: ending) {
      podcastfs_curl_multi_add_handle(multi, transfer.easy)
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

extension HTTPSession {
  private func watchSilence() {
    guard silence == nil, let shortest = transfers.values.lazy.map(\.request.stallTimeout).min() else {
      return
    }
    silence = loop.schedule(at: .after(min(shortest, 1) / 4)) { [unowned self] in
      silence = nil
      let now = MonotonicTime.now
      for (id, transfer) in transfers {
        if let deadline = transfer.stallDeadline, deadline <= now { end(id, .stalled) }
      }
      watchSilence()
    }
  }
}

extension HTTPSession {
  private func open() throws(HTTPError) -> UnsafeMutableRawPointer {
    if let multi { return multi }
    try HTTPLibrary.load()
    guard let made = podcastfs_curl_multi_init() else { throw HTTPError(.other, "no memory", .ENOMEM) }
    multi = made
    // A connection for each transfer: what a seek asks for on a stream of its own comes behind all that the host has
    // already sent on that connection (Documentation/Transfers.md).
    _ = podcastfs_curl_multi_set_long(made, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    _ = podcastfs_curl_multi_set_long(made, CURLMOPT_MAXCONNECTS, 32)
    podcastfs_curl_multi_set_callbacks(
      made,
      { _, socket, what, this, _ in
        if let this { HTTPSession.at(this).watch(socket, Int32(what)) }
        return 0
      },
      { _, milliseconds, this in
        if let this { HTTPSession.at(this).setTimer(milliseconds) }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    return made
  }

  private static func at(_ pointer: UnsafeMutableRawPointer) -> HTTPSession {
    Unmanaged<HTTPSession>.fromOpaque(pointer).takeUnretainedValue()
  }

  private func watch(_ socket: Int32, _ what: Int32) {
    guard what != CURL_POLL_REMOVE else {
      sockets.remove(socket)
      return loop.unwatch(socket)
    }
    var interest: EventLoop.Ready = []
    if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest.insert(.readable) }
    if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest.insert(.writable) }
    // libcurl tells when it lets go of one: its number may be given again.
    if !sockets.insert(socket).inserted { return loop.setInterest(socket, interest) }
    loop.watch(socket, interest) { [unowned self] ready in
      var events: Int32 = 0
      if ready.contains(.readable) { events |= CURL_CSELECT_IN }
      if ready.contains(.writable) { events |= CURL_CSELECT_OUT }
      if !ready.isDisjoint(with: .broken) { events |= CURL_CSELECT_ERR }
      act(socket, events)
    }
  }

  private func setTimer(_ milliseconds: Int) {
    if let timer { loop.cancel(timer) }
    timer = nil
    guard milliseconds >= 0 else { return }
    timer = loop.schedule(at: .after(Double(milliseconds) / 1000)) { [unowned self] in
      timer = nil
      act(CURL_SOCKET_TIMEOUT, 0)
    }
  }

  /// Has libcurl do what is due, and ends the transfers that have ended by it.
  private func act(_ socket: Int32, _ events: Int32) {
    guard let multi else { return }
    var (running, left): (Int32, Int32) = (0, 0)
    podcastfs_curl_multi_socket_action(multi, socket, events, &running)
    while let message = podcastfs_curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let result = message.pointee.data.result
      if let transfer = HTTPTransfer.of(easy) { end(transfer.id, .result(result)) }
    }
  }
}
