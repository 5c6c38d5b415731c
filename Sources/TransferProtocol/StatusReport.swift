package import PodcastModel

/// What `podcastfs status --json` and `.podcastfs/status.json` say of the transfers.
package enum StatusReport {
  /// The totals, and every transfer that is not merely remote, those under way first, then as they queue.
  package static func json(
    _ statuses: [TransferStatus], version: String, cacheLimit: Int64
  ) -> JSONValue {
    let shown = ordered(statuses)
    return .object([
      ("version", .string(version)),
      ("cache_bytes", .integer(statuses.reduce(0) { $0 + $1.budgeted })),
      ("cache_limit", .integer(cacheLimit)),
      ("active", .integer(Int64(statuses.count { $0.state == .downloading && $0.isEpisode }))),
      ("queued", .integer(Int64(statuses.count { $0.state == .queued && $0.isEpisode }))),
      ("transfers", .array(shown.map(json))),
    ])
  }

  /// Those that are not merely remote, in the order for people.
  package static func ordered(_ statuses: [TransferStatus]) -> [TransferStatus] {
    let ranks: [TransferState] = [.downloading, .queued, .paused, .failed, .cached]
    func rank(_ state: TransferState) -> Int { ranks.firstIndex(of: state) ?? ranks.count }
    return statuses.filter { $0.state != .remote }.sorted {
      (rank($0.state), $0.order, $0.key) < (rank($1.state), $1.order, $1.key)
    }
  }

  /// One transfer; what is not known is null.
  package static func json(_ status: TransferStatus) -> JSONValue {
    .members([
      "key": status.key.text,
      "state": status.state.name,
      "title": status.title,
      "show": status.show,
      "name": status.fileName,
      "url": WebAddress(status.url).shown,
      "progress": status.progressText,
      "bytes_received": status.received,
      "bytes_total": status.total,
      "rate": status.state == .downloading ? status.rate : nil,
      "eta": status.state == .downloading ? status.eta : nil,
      "error": status.error,
      "keep": status.isKept,
    ])
  }
}

extension TransferStatus {
  /// Percent with one decimal; nil while the size is not known.
  package var progressText: String? {
    total.map { Progress.text(received: received, total: $0, isComplete: state == .cached) }
  }
}

/// The attribute `user.podcastfs.progress`.
package enum Progress {
  /// Percent with one decimal, rounded down, so that 100.0 means all of it.
  package static func text(received: Int64, total: Int64, isComplete: Bool) -> String {
    if isComplete { return "100.0" }
    guard total > 0 else { return "0.0" }
    let tenths = min(999, Int64((Double(max(0, received)) / Double(total) * 1000).rounded(.down)))
    return "\(tenths / 10).\(tenths % 10)"
  }
}
