internal import TransferProtocol

/// The transfers as a list for people.
enum TransferList {
  /// Lines for each that is not merely remote or wholly here.
  static func lines(_ statuses: [TransferStatus], _ lines: (ProgressLine) -> [String]) -> [String] {
    StatusReport.ordered(statuses).filter { $0.state != .cached }.flatMap { lines(ProgressLine($0)) }
  }

  /// One for the whole.
  static func summary(_ statuses: [TransferStatus]) -> String {
    let cached = statuses.count { $0.state == .cached }
    let size = HumanText.size(statuses.reduce(0) { $0 + $1.received })
    let words: [(TransferState, String)] = [
      (.downloading, "downloading"), (.queued, "queued"), (.paused, "paused"), (.failed, "failed"),
    ]
    let parts = words.compactMap { state, word in
      let count = statuses.count { $0.state == state }
      return count > 0 ? "\(count) \(word)" : nil
    }
    return (parts + ["\(HumanText.count(cached, "episode")) here (\(size) in the cache)"]).joined(
      separator: ", ")
  }
}
