internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `.podcastfs/events`: a line of JSON for each change of state, new episode and finished refresh, which
/// every reader gets from when it opened the file on. What a reader had not read when the mount's process dies is lost.
final class EventLog: Sendable {
  private struct State {
    var readers: [Int: Reader] = [:]
    var next = 0
    /// Whole lines, as long as somebody reads.
    var text: [UInt8] = []
    /// How many bytes have been let go before them.
    var dropped: Int64 = 0
    var end: Int64 { dropped + Int64(text.count) }
  }

  /// One open file. The kernel counts what it has been given; what it reads is the text from its base on.
  fileprivate struct Reader {
    /// Where in the text the file's first byte is; nil before the first read.
    var base: Int64?
    /// Where in the text the next byte is.
    var position: Int64
    var waiting: [Int: Callback<Errno?>] = [:]
    /// Who polls.
    var notice: Callback<Void>?
    var nextWaiter = 0
  }

  private let state = Monitor(State())

  /// In bytes: a reader that has stopped reading loses the oldest lines beyond this.
  static let limit = 1 << 20

  /// Also of a file that was open when the process before died: it is read on from here.
  func open() -> any OpenFile {
    let id = state.withLock { state in
      let id = state.next
      state.next += 1
      state.readers[id] = Reader(position: state.end)
      return id
    }
    return EventStream(log: self, id: id)
  }

  /// Whether anybody reads: what happens need not be looked up for nobody.
  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

  // MARK: What happens

  func record(_ status: TransferStatus, of entry: EpisodeEntry) {
    let status = status.withLength(ofFeed: EpisodeSize.plausibleLength(of: entry.episode.summary))
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
        ("problem_count", .integer(Int64(imported.problems.count))),
        ("problems", .strings(imported.problems.prefix(Self.problemLimit).map { $0.cut(toBytes: 256) })),
      ])
  }

  /// So many reasons are told.
  private static let problemLimit = 20
  /// Of one text, in bytes.
  private static let textLimit = 1024

  private func record(_ event: String, _ members: [(String, JSONValue)]) {
    let time = JSONValue.string(CivilTime.iso8601(wallClockSeconds()))
    let bounded = members.map { name, value -> (String, JSONValue) in
      if case .string(let text) = value { return (name, .string(text.cut(toBytes: Self.textLimit))) }
      return (name, value)
    }
    let value = JSONValue.object([("event", .string(event)), ("time", time)] + bounded)
    let line = Array(value.compactText.utf8) + [UInt8(ascii: "\n")]
    let (waiting, notices) = state.withLock { state -> ([Callback<Errno?>], [Callback<Void>]) in
      if state.readers.isEmpty { return ([], []) }
      Self.add(line, to: &state)
      var waiting: [Callback<Errno?>] = []
      var notices: [Callback<Void>] = []
      for id in state.readers.keys {
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

  /// Half of the text goes where it has become too long.
  private static func add(_ line: [UInt8], to state: inout State) {
    state.text += line
    guard state.text.count > limit else { return }
    let half = state.text.count / 2
    let end = state.text[half...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? state.text.count
    state.text.removeFirst(end)
    state.dropped += Int64(end)
  }

  // MARK: Readers

  /// Moves a reader to where it is by the kernel's count, or to the oldest line that is left.
  private static func place(_ reader: inout Reader, at offset: Int64, _ state: State) {
    let base = reader.base ?? reader.position - offset
    reader.position = max(base + offset, state.dropped)
    reader.base = reader.position - offset
  }

  fileprivate func read(_ id: Int, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    state.withLock { state in
      guard var reader = state.readers[id] else { return nil }
      Self.place(&reader, at: offset, state)
      let part = state.text[Int(reader.position - state.dropped)...].prefix(buffer.count)
      buffer.copyBytes(from: part)
      reader.position += Int64(part.count)
      state.readers[id] = reader
      return part.isEmpty ? nil : part.count
    }
  }

  fileprivate func wait(
    _ id: Int, at offset: Int64, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    let waiter = state.withLock { state -> Int? in
      guard var reader = state.readers[id] else { return nil }
      Self.place(&reader, at: offset, state)
      guard reader.position == state.end else { return nil }
      let waiter = reader.nextWaiter
      reader.nextWaiter += 1
      reader.waiting[waiter] = Callback(completion)
      state.readers[id] = reader
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
    state.withLock { state in state.readers[id].map { $0.position < state.end } ?? false }
  }

  fileprivate func whenPollable(_ id: Int, _ notice: @escaping @Sendable () -> Void) {
    let isReadable = state.withLock { state in
      if let reader = state.readers[id], reader.position < state.end { return true }
      state.readers[id]?.notice = Callback(notice)
      return false
    }
    if isReadable { notice() }
  }

  fileprivate func close(_ id: Int) {
    let waiting = state.withLock { state in
      let reader = state.readers.removeValue(forKey: id)
      if state.readers.isEmpty {
        state.dropped = state.end
        state.text = []
      }
      return reader?.waiting.values.map { $0 } ?? []
    }
    for completion in waiting { completion(.EINTR) }
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
