internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit
internal import TransferProtocol
internal import TransferStore

/// What waits for the disk, in order, on a thread of its own: data, then journals, then the store.
final class DiskQueue: Sendable {
  private struct State: ~Copyable {
    var records: [MediaKey: TransferRecord] = [:]
    var isSaving = false
  }
  private let state = Monitor(State())
  private let store: Monitor<TransferStore>
  private let log: LogFile
  private let queue = WorkQueue(name: "disk")

  init(_ store: consuming sending TransferStore, log: LogFile) {
    self.store = Monitor(store)
    self.log = log
  }

  /// Appends a line to the log. It must hold no credentials.
  func write(_ line: String) { queue.async { self.log.write(line) } }

  /// Brings a generation's bytes and journal to the disk.
  func synchronize(_ writer: EpisodeWriter, then done: @escaping @Sendable (PosixError?) -> Void) {
    queue.async {
      do throws(PosixError) {
        try writer.synchronize()
        done(nil)
      } catch {
        done(error)
      }
    }
  }

  /// Remembers records, soon, together with others.
  func save(_ records: [TransferRecord]) {
    let isFirst = state.withLock { state in
      for record in records { state.records[record.key] = record }
      defer { state.isSaving = true }
      return !state.isSaving
    }
    if isFirst { queue.async { self.flush() } }
  }

  func save(_ settings: TransferSettings) {
    queue.async { self.store.withLock { store in try? store.save(settings) } }
  }

  /// Calls `done` when all that was given before is on the disk.
  func afterAll(_ done: @escaping @Sendable () -> Void) { queue.async(done) }

  private func flush() {
    let records = state.withLock { state in
      state.isSaving = false
      defer { state.records = [:] }
      return Array(state.records.values)
    }
    // A store that can't be written (a full disk) is written at the next change; the journals hold the bytes.
    do {
      try store.withLock { store in try store.save(records) }
    } catch {
      state.withLock { state in
        for record in records where state.records[record.key] == nil { state.records[record.key] = record }
      }
    }
  }

  /// Waits until everything is on the disk, and ends.
  func stop() {
    let finished = Monitor(false)
    queue.async {
      self.flush()
      finished.withLockNotifying { $0 = true }
    }
    queue.stop()
    _ = finished.wait(until: .after(10)) { $0 ? true : nil }
  }
}
