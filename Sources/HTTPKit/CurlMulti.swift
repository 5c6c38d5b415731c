internal import CCurl
internal import PosixKit

/// A multi handle, and what its transfers share. Thread-confined but for `wakeUp`, which must not run beside
/// `close` (HTTPLoop sees to both).
final class CurlMulti: @unchecked Sendable {
  private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let multi: UnsafeMutableRawPointer
  /// TLS sessions, so that further connections to a host resume them.
  let share: OpaquePointer?

  init() {
    precondition(Self.isInitialized, "libcurl cannot be initialized")
    guard let multi = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
    self.multi = multi
    share = podcastfs_curl_share_tls_sessions().map { OpaquePointer($0) }
    // A connection for each transfer: libcurl 7.88 holds up all streams of an HTTP/2 connection while one of
    // them is paused.
    _ = podcastfs_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    _ = podcastfs_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 32)
  }

  func wakeUp() { curl_multi_wakeup(multi) }

  func close() {
    curl_multi_cleanup(multi)
    if let share { curl_share_cleanup(UnsafeMutableRawPointer(share)) }
  }

  func add(_ transfer: HTTPTransfer) { curl_multi_add_handle(multi, transfer.easy) }

  func remove(_ transfer: HTTPTransfer) { curl_multi_remove_handle(multi, transfer.easy) }

  func perform() {
    var running: Int32 = 0
    curl_multi_perform(multi, &running)
  }

  /// The next transfer that has ended, by its id, and how.
  func nextFinished() -> (UInt64, CURLcode)? {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let result = podcastfs_curl_message_result(message)
      return HTTPTransfer.of(easy).map { ($0.id, result) }
    }
    return nil
  }

  /// Sleeps until something is to be done: at the latest at `deadline`, or when libcurl has timers of its own.
  func poll(until deadline: MonotonicTime) {
    let timeout = deadline.pollTimeout
    curl_multi_poll(multi, nil, 0, timeout < 0 ? Int32.max : timeout, nil)
  }
}
