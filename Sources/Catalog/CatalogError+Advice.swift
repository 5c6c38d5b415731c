internal import PosixKit

extension CatalogError {
  /// The message, and what a person can do about it: for the log.
  var messageWithAdvice: String { advice.map { "\(message) (\($0))" } ?? message }

  private var advice: String? {
    switch errno {
    case .ENETUNREACH, .EHOSTUNREACH:
      "look at the network and at the address; podcastfs doctor tests the rest"
    case .ETIMEDOUT, .ECONNREFUSED, .ECONNRESET, .EIO: "it is tried again on its own"
    case .EAGAIN: "the service wants a pause: try again in some minutes"
    case .EACCES: "the host wants a name and a password, or a fresh address: subscribe to that"
    case .ENOENT: "the feed has gone: search for its new address, or unsubscribe"
    case .EPROTO: "the address may be that of a web page: podcastfs feed ADDRESS shows what is there"
    case .ENOSPC, .EDQUOT: "make room on the disk"
    default: nil
    }
  }
}
