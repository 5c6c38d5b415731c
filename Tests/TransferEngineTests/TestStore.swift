import PodcastModel
import PosixKit
import TransferEngine
import TransferProtocol

/// The store as a test has it.
final class TestStore: Sendable {
  private let state: Monitor<[MediaKey: TransferStatus]>

  init(_ rows: [MediaKey: TransferStatus] = [:]) { state = Monitor(rows) }

  var rows: [MediaKey: TransferStatus] {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  var stored: StoredRows {
    var stored = StoredRows()
    stored.bytes = rows.values.reduce(0) { $0 + $1.budgeted }
    stored.record = { key in self.state.withLock { $0[key] } }
    stored.names = { choice in
      self.rows.values.filter { row in
        switch choice {
        case .all: true
        case .cached: row.received > 0
        case .evictable: row.isEvictable
        }
      }.map { GenerationName(key: $0.key, generation: $0.generation, size: $0.received) }.sorted {
        $0.key < $1.key
      }
    }
    return stored
  }

  /// Those that a daemon goes on with, in the queue's order.
  var unfinished: [TransferStatus] {
    rows.values.filter(\.isPending).sorted { ($0.order, $0.key) < ($1.order, $1.key) }
  }
}
