internal import CCurl
internal import PosixKit

/// A multi handle, what its transfers share, and its sockets and timer on a loop
/// (curl_multi_socket_action(3)). Belongs to the loop.
final class CurlMulti {
  private let loop: EventLoop
  private let multi: UnsafeMutableRawPointer
  /// TLS sessions, so that further connections to a host resume them.
  let share: OpaquePointer?
  /// Origins that have asked for Digest authentication: no password is sent to them in the clear again.
  var digestOrigins: Set<String> = []
  /// Called after libcurl has done something: transfers may have ended.
  var acted: () -> Void = {}
  private var timer: EventLoop.Timer?
  private var sockets: Set<Int32> = []

  /// Loads libcurl, where nobody has before.
  init(loop: EventLoop) throws(HTTPError) {
    try HTTPLibrary.load()
    guard let multi = podcastfs_curl_multi_init() else { throw HTTPError(.other, "no memory", .ENOMEM) }
    self.loop = loop
    self.multi = multi
    share = podcastfs_curl_share_tls_sessions().map { OpaquePointer($0) }
    // A connection for each transfer: what a seek asks for on a stream of its own comes behind all that the host has
    // already sent on that connection (Documentation/Transfers.md).
    _ = podcastfs_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    _ = podcastfs_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 32)
    podcastfs_curl_multi_set_callbacks(
      multi,
      { _, socket, what, this, _ in
        if let this { CurlMulti.at(this).watch(socket, Int32(what)) }
        return 0
      },
      { _, milliseconds, this in
        if let this { CurlMulti.at(this).setTimer(milliseconds) }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private static func at(_ pointer: UnsafeMutableRawPointer) -> CurlMulti {
    Unmanaged<CurlMulti>.fromOpaque(pointer).takeUnretainedValue()
  }

  func close() {
    podcastfs_curl_multi_cleanup(multi)
    if let share { podcastfs_curl_share_cleanup(UnsafeMutableRawPointer(share)) }
    for socket in sockets { loop.unwatch(socket) }
    if let timer { loop.cancel(timer) }
  }

  func add(_ transfer: HTTPTransfer) { podcastfs_curl_multi_add_handle(multi, transfer.easy) }

  func remove(_ transfer: HTTPTransfer) { podcastfs_curl_multi_remove_handle(multi, transfer.easy) }

  /// The next transfer that has ended, by its id, and how.
  func nextFinished() -> (UInt64, CURLcode)? {
    var left: Int32 = 0
    while let message = podcastfs_curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let result = podcastfs_curl_message_result(message)
      return HTTPTransfer.of(easy).map { ($0.id, result) }
    }
    return nil
  }

  /// libcurl wants to hear of a socket.
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

  /// libcurl wants to be called after so many milliseconds; never where negative.
  private func setTimer(_ milliseconds: Int) {
    if let timer { loop.cancel(timer) }
    timer = nil
    guard milliseconds >= 0 else { return }
    timer = loop.schedule(at: .after(Double(milliseconds) / 1000)) { [unowned self] in
      timer = nil
      goOn()
    }
  }

  /// Does what is due.
  func goOn() { act(CURL_SOCKET_TIMEOUT, 0) }

  private func act(_ socket: Int32, _ events: Int32) {
    var running: Int32 = 0
    podcastfs_curl_multi_socket_action(multi, socket, events, &running)
    acted()
  }
}
