internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `.podcastfs/events`: a line of JSON for each change of state, new episode and finished refresh. Every reader gets the
/// lines from when it opened the file on.
final class EventLog: Sendable {
  private struct State {
    /// The newest lines.
    var text: [UInt8] = []
    /// How many bytes were recorded before them.
    var start: Int64 = 0
    var readers: [Int: Reader] = [:]
    /// Reads that wait for the next line, by their own numbers.
    var waiting: [Int: (reader: Int, completion: Callback<Errno?>)] = [:]
    var lastNumber = 0

    var end: Int64 { start + Int64(text.count) }

    mutating func takeNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }

    /// Whole lines, the oldest first, make room.
    mutating func add(_ line: [UInt8]) {
      text += line
      guard text.count > EventLog.limit, let last = text[(text.count / 2)...].firstIndex(of: 0x0a) else {
        return
      }
      text.removeFirst(last + 1)
      start += Int64(last + 1)
    }

    /// Where a reader is by the kernel's count of what it has read. One that has stopped reading loses its oldest lines.
    mutating func position(of id: Int, at offset: Int64) -> Int64 {
      let base = readers[id]?.base ?? end - offset
      let position = min(max(base &+ offset, start), end)
      readers[id]?.base = position - offset
      return position
    }
  }

  /// One open file.
  private struct Reader {
    /// Where in all that was recorded the file's first byte is; nil for a file that was opened in another process, until its
    /// first read.
    var base: Int64?
    /// How far it has read.
    var position: Int64
    /// Called once when there is something to read: poll(2).
    var notice: Callback<Void>?
  }

  private let state = Monitor(State())
  /// In bytes: what a reader may be behind.
  private static let limit = 1 << 20

  /// - Parameter isReopening: whether it was open in the process that served before: its reader goes on with what happens from
  ///   now on.
  func open(isReopening: Bool) -> any OpenFile {
    let id = state.withLock { state in
      let id = state.takeNumber()
      state.readers[id] = Reader(base: isReopening ? nil : state.end, position: state.end)
      return id
    }
    return EventStream(log: self, id: id)
  }

  /// Whether anybody reads: else nobody needs to look up what happens.
  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

  // MARK: What happens

  func record(_ status: TransferStatus, of entry: EpisodeEntry) {
    let status = status.withLength(ofFeed: EpisodeSize.plausibleLength(of: entry.episode))
    record(
      "state",
      [
        ("state", .string(status.state.name)), ("show", .string(entry.podcast.title)),
        ("title", .string(entry.episode.title)), ("name", .string(entry.episode.fileName)),
        ("guid", .optional(entry.episode.guid)), ("progress", .optional(status.progressText)),
        ("bytes_received", .integer(status.received)), ("bytes_total", .optional(status.total)),
        ("error", .optional(status.reason)),
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
        ("episodes", .integer(Int64(imported.episodes + imported.awaited))),
        ("problem_count", .integer(Int64(imported.problems.count))),
        ("problems", .strings(imported.problems.prefix(Self.problemLimit).map { $0.cut(toBytes: 256) })),
      ])
  }

  func recordSynchronized(added: Int, removed: Int, episodes: Int) {
    record(
      "synced",
      [
        ("subscriptions_added", .integer(Int64(added))), ("subscriptions_removed", .integer(Int64(removed))),
        ("episodes", .integer(Int64(episodes))),
      ])
  }

  /// The most reasons in one event.
  static let problemLimit = 20
  /// Of one text, in bytes: an event is never too long for the memory that keeps it.
  private static let textLimit = 1024

  private func record(_ event: String, _ members: [(String, JSONValue)]) {
    let time = JSONValue.string(CivilTime.iso8601(wallClockSeconds()))
    let bounded = members.map { name, value -> (String, JSONValue) in
      if case .string(let text) = value { return (name, .string(text.cut(toBytes: Self.textLimit))) }
      return (name, value)
    }
    let value = JSONValue.object([("event", .string(event)), ("time", time)] + bounded)
    let line = Array(value.compactText.utf8) + [UInt8(ascii: "\n")]
    let (waiting, notices) = state.withLock { state in
      if !state.readers.isEmpty { state.add(line) }
      defer { state.waiting = [:] }
      let notices = state.readers.values.compactMap(\.notice)
      for id in state.readers.keys { state.readers[id]?.notice = nil }
      return (state.waiting.values.map(\.completion), notices)
    }
    for completion in waiting { completion(nil) }
    for notice in notices { notice() }
  }

  // MARK: Readers

  fileprivate func read(_ id: Int, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    state.withLock { state in
      guard state.readers[id] != nil else { return nil }
      let position = state.position(of: id, at: offset)
      let part = state.text[Int(position - state.start)...].prefix(buffer.count)
      buffer.copyBytes(from: part)
      state.readers[id]?.position = position + Int64(part.count)
      return part.isEmpty ? nil : part.count
    }
  }

  fileprivate func wait(
    _ id: Int, at offset: Int64, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    let waiter = state.withLock { state -> Int? in
      guard state.readers[id] != nil, state.position(of: id, at: offset) == state.end else { return nil }
      let waiter = state.takeNumber()
      state.waiting[waiter] = (id, Callback(completion))
      return waiter
    }
    guard let waiter else {
      completion(nil)
      return {}
    }
    return { [self] in state.withLock { $0.waiting.removeValue(forKey: waiter) }?.completion(.EINTR) }
  }

  fileprivate func isReadable(_ id: Int) -> Bool {
    state.withLock { state in state.readers[id].map { $0.position < state.end } ?? false }
  }

  fileprivate func whenPollable(_ id: Int, _ notice: @escaping @Sendable () -> Void) {
    if isReadable(id) { return notice() }
    state.withLock { $0.readers[id]?.notice = Callback(notice) }
    // It may have come meanwhile.
    if isReadable(id) { state.withLock { $0.readers[id]?.notice.take() }?() }
  }

  fileprivate func close(_ id: Int) {
    let waiting = state.withLock { state in
      state.readers[id] = nil
      let waiting = state.waiting.filter { $0.value.reader == id }
      for number in waiting.keys { state.waiting[number] = nil }
      if state.readers.isEmpty {
        state.start = state.end
        state.text = []
      }
      return waiting.values
    }
    for waiter in waiting { waiter.completion(.EINTR) }
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
    log.read(id, at: offset, into: buffer).map { .success($0) }
  }

  func whenReadable(
    at offset: Int64, count: Int, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    log.wait(id, at: offset, completion)
  }

  func close() { log.close(id) }
}
