internal import PosixKit

extension CatalogError {
  /// What could not be done.
  enum Undertaking { case refresh, search, subscription }

  /// The message, and what a person can do about it: for the log.
  func message(adviceFor what: Undertaking) -> String {
    let advice =
      switch what {
      case .refresh: advice
      case .search: adviceForSearch
      case .subscription: adviceForSubscription
      }
    return advice.map { "\(message) (\($0))" } ?? message
  }

  /// Nobody but the user subscribes again.
  private var adviceForSubscription: String? {
    switch errno {
    case .ETIMEDOUT, .ECONNREFUSED, .ECONNRESET, .EIO: "subscribe again in a while"
    case .ENOENT: "search for its new address"
    default: advice
    }
  }

  /// Nobody but the user searches again.
  private var adviceForSearch: String? {
    switch errno {
    case .ETIMEDOUT, .ECONNREFUSED, .ECONNRESET, .EIO:
      "search again in a while; podcastfs doctor asks the service, too"
    case .EACCES, .ENOENT, .EPROTO: "search_url may be wrong; podcastfs doctor asks the service, too"
    default: advice
    }
  }

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
