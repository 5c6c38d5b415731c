internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `.podcastfs/events`: a line of JSON for each change of state, new episode and finished refresh, which
/// every reader gets from when it opened the file on.
final class EventLog: Sendable {
  private struct State {
    var readers: [Int: Reader] = [:]
    var next = 0
  }

  /// What one open file has not read yet.
  fileprivate struct Reader {
    var pending: [UInt8] = []
    var waiting: [Int: @Sendable (Errno?) -> Void] = [:]
    /// Who polls.
    var notice: (@Sendable () -> Void)?
    var nextWaiter = 0
  }

  private let state = Monitor(State())
  /// A reader that has stopped reading loses its oldest lines beyond this.
  private static let limit = 1 << 20

  func open() -> any OpenFile {
    let id = state.withLock { state in
      let id = state.next
      state.next += 1
      state.readers[id] = Reader()
      return id
    }
    return EventStream(log: self, id: id)
  }

  /// Whether anybody reads: what happens need not be looked up for nobody.
  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

  // MARK: What happens

  func record(_ status: TransferStatus, of entry: EpisodeEntry) {
    record(
      "state",
      [
        ("state", .string(status.state.name)), ("show", .string(entry.podcast.title)),
        ("title", .string(entry.episode.title)), ("name", .string(entry.episode.fileName)),
        ("guid", .optional(entry.episode.guid)), ("progress", .optional(status.progressText)),
        ("bytes_received", .integer(status.received)), ("bytes_total", .optional(status.total)),
        ("error", .optional(status.error)),
      ])
  }

  func record(new episodes: [Episode], of podcast: Podcast) {
    for episode in episodes {
      record(
        "new_episode",
        [
          ("show", .string(podcast.title)), ("title", .string(episode.title)),
          ("name", .string(episode.fileName)), ("guid", .optional(episode.guid)),
          ("published", .string(CivilTime.iso8601(episode.published))),
        ])
    }
  }

  func record(refreshed podcast: Podcast) {
    record(
      "refreshed",
      [
        ("show", .string(podcast.title)),
        ("feed_url", .string(podcast.feedURL.shown(isListed: podcast.isListed))),
        ("episode_count", .integer(Int64(podcast.episodeCount))), ("error", .optional(podcast.error)),
      ])
  }

  func record(imported: OPMLImport) {
    record(
      "imported",
      [
        ("added", .integer(Int64(imported.added))), ("known", .integer(Int64(imported.known))),
        ("problems", .strings(imported.problems)),
      ])
  }

  private func record(_ event: String, _ members: [(String, JSONValue)]) {
    let time = JSONValue.string(CivilTime.iso8601(wallClockSeconds()))
    let value = JSONValue.object([("event", .string(event)), ("time", time)] + members)
    let line = Array(value.compactText.utf8) + [UInt8(ascii: "\n")]
    let (waiting, notices) = state.withLock { state in
      var waiting: [@Sendable (Errno?) -> Void] = []
      var notices: [@Sendable () -> Void] = []
      for id in state.readers.keys {
        state.readers[id]?.append(line, limit: Self.limit)
        waiting += state.readers[id]?.waiting.values.map { $0 } ?? []
        state.readers[id]?.waiting = [:]
        if let notice = state.readers[id]?.notice { notices.append(notice) }
        state.readers[id]?.notice = nil
      }
      return (waiting, notices)
    }
    for completion in waiting { completion(nil) }
    for notice in notices { notice() }
  }

  // MARK: Readers

  fileprivate func read(_ id: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    state.withLock { state in
      guard let pending = state.readers[id]?.pending, !pending.isEmpty else { return nil }
      let count = min(buffer.count, pending.count)
      buffer.copyBytes(from: pending[..<count])
      state.readers[id]?.pending.removeFirst(count)
      return count
    }
  }

  fileprivate func wait(
    _ id: Int, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    let waiter = state.withLock { state -> Int? in
      guard state.readers[id]?.pending.isEmpty ?? false else { return nil }
      let waiter = state.readers[id]?.nextWaiter ?? 0
      state.readers[id]?.nextWaiter += 1
      state.readers[id]?.waiting[waiter] = completion
      return waiter
    }
    guard let waiter else {
      completion(nil)
      return {}
    }
    return { [self] in
      state.withLock { $0.readers[id]?.waiting.removeValue(forKey: waiter) }?(.EINTR)
    }
  }

  fileprivate func isReadable(_ id: Int) -> Bool {
    state.withLock { $0.readers[id]?.pending.isEmpty == false }
  }

  fileprivate func whenPollable(_ id: Int, _ notice: @escaping @Sendable () -> Void) {
    let isReadable = state.withLock { state in
      if state.readers[id]?.pending.isEmpty == false { return true }
      state.readers[id]?.notice = notice
      return false
    }
    if isReadable { notice() }
  }

  fileprivate func close(_ id: Int) {
    let waiting = state.withLock { $0.readers.removeValue(forKey: id)?.waiting.values.map { $0 } ?? [] }
    for completion in waiting { completion(.EINTR) }
  }
}

extension EventLog.Reader {
  fileprivate mutating func append(_ line: [UInt8], limit: Int) {
    pending += line
    guard pending.count > limit else { return }
    // Whole lines go, the oldest first.
    let cut = pending.count - limit
    let end = pending[cut...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? pending.count
    pending.removeFirst(end)
  }
}

/// One open `.podcastfs/events`.
private final class EventStream: OpenFile {
  private let log: EventLog
  private let id: Int

  init(log: EventLog, id: Int) {
    self.log = log
    self.id = id
  }

  var isDirect: Bool { true }
  var keepsCache: Bool { false }
  var isStream: Bool { true }
  var size: Int64? { nil }
  var isReadable: Bool { log.isReadable(id) }
  func whenPollable(_ notice: @escaping @Sendable () -> Void) { log.whenPollable(id, notice) }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    log.read(id, into: buffer).map { .success($0) }
  }

  func whenReadable(
    at offset: Int64, count: Int, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    log.wait(id, completion)
  }

  func close() { log.close(id) }
}
