internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `.podcastfs/events`: a line of JSON for each change of state, new episode and finished refresh, which
/// every reader gets from when it opened the file on.
///
/// The lines lie in the mount's memory, and so does what has been told: the process that serves next goes on where this one
/// was, for those who read on, and tells what has changed meanwhile (`PodcastTree.tellWhatWasMissed`).
final class EventLog: Sendable {
  private struct State {
    var readers: [Int: Reader] = [:]
    var next = 0
    /// Whether readers of the process before may still come back.
    var isTakingOver: Bool
  }

  /// One open file. The kernel says how much it has read; what it reads is the text from its base on.
  fileprivate struct Reader {
    /// The lower 32 bits of where in the text the file's first byte is; nil where a process of an older version did not
    /// say that: the first read does.
    var base: UInt32?
    /// The same of what has not been read.
    var position: UInt32
    /// Gets what the next process needs of both.
    var keep: (@Sendable (UInt64) -> Void)?
    var waiting: [Int: Callback<Errno?>] = [:]
    /// Who polls.
    var notice: Callback<Void>?
    var nextWaiter = 0
  }

  private let state: Monitor<State>
  private let memory: LastingMemory?
  /// Of changes since then not all may have been told: in seconds since 1970, nil where there was no process before.
  let missedSince: Int64?

  /// The text starts at this position: a reader's place is never 0 then.
  private static let start: UInt64 = 1 << 20

  /// - Parameter memory: the mount's; nil for a mount that ends with its process.
  init(memory: LastingMemory?) {
    let isFollowed = memory?[.isFollowed] == 1
    missedSince = memory.map { Int64(truncatingIfNeeded: $0[.seenChange]) }.flatMap { $0 > 0 ? $0 : nil }
    self.memory = memory ?? (try? LastingMemory())
    if let memory = self.memory, memory[.textEnd] < Self.start { memory[.textEnd] = Self.start }
    state = Monitor(State(isTakingOver: isFollowed))
  }

  /// - Parameter place: what `OpenFile.keepPlace` has given of it in the process before; nil where it is opened anew, 0 where
  ///   that process did not say.
  func open(place: UInt64?) -> any OpenFile {
    let id = state.withLock { state in
      let id = state.next
      state.next += 1
      let end = UInt32(truncatingIfNeeded: memory?[.textEnd] ?? Self.start)
      state.readers[id] =
        switch place {
        case nil: Reader(base: end, position: end)
        case 0: Reader(base: nil, position: end)
        case let place?:
          Reader(base: UInt32(place >> 32), position: UInt32(truncatingIfNeeded: place))
        }
      memory?[.isFollowed] = 1
      return id
    }
    return EventStream(log: self, id: id)
  }

  /// Whether anybody reads: what happens need not be looked up for nobody.
  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty || $0.isTakingOver } }

  /// Whoever had it open in the process before has it open again, or has closed it.
  func endTakingOver() {
    state.withLock { state in
      state.isTakingOver = false
      rest(&state)
    }
  }

  private func rest(_ state: inout State) {
    guard state.readers.isEmpty, !state.isTakingOver, memory?[.isFollowed] == 1 else { return }
    memory?[.isFollowed] = 0
    memory?.clearText()
  }

  // MARK: What has been told

  /// Every commit up to this one is told of.
  func note(commit: Int64) { memory?[.seenCommit] = UInt64(bitPattern: commit) }

  /// The last commit that the process before has told of; nil where that is not known.
  var seenCommit: Int64? {
    let commit = Int64(bitPattern: memory?[.seenCommit] ?? 0)
    return commit > 0 ? commit : nil
  }

  /// What downloads say is told up to this one.
  func note(_ status: TransferStatus) {
    note(changed: status.changed)
    memory?.note(told: Self.number(status))
  }

  func note(changed: Int64) {
    guard let memory else { return }
    memory[.seenChange] = max(memory[.seenChange], UInt64(max(0, changed)))
  }

  /// Whether what a download says has been told, if that was a short while ago.
  func hasTold(_ status: TransferStatus) -> Bool { memory?.told.contains(Self.number(status)) ?? false }

  /// Stands for what a download says.
  private static func number(_ status: TransferStatus) -> UInt64 {
    var sum = CRC32C()
    let text = "\(status.key) \(status.state.name) \(status.generation) \(status.changed)"
    Array(text.utf8).withUnsafeBytes { sum.update($0) }
    return status.key.bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) } << 32 | UInt64(sum.value)
  }

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
      memory?.add(line: line)
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

  // MARK: Readers

  /// How much of the text up to its end a position is before.
  private func left(from position: UInt32) -> Int {
    Int(UInt32(truncatingIfNeeded: memory?[.textEnd] ?? Self.start) &- position)
  }

  /// Where a file's reader is by the kernel's count. One that has stopped reading loses its oldest lines.
  private func place(_ reader: inout Reader, at offset: Int64) {
    let offset = UInt32(truncatingIfNeeded: offset)
    let end = UInt32(truncatingIfNeeded: memory?[.textEnd] ?? Self.start)
    let base = reader.base ?? (end &- offset)
    reader.position = base &+ offset
    if Int32(bitPattern: end &- reader.position) < 0 {
      // A process of an older version has given it lines that are not here.
      reader.position = end
    } else if left(from: reader.position) > LastingMemory.textLimit {
      reader.position = end &- UInt32(LastingMemory.textLimit)
      reader.position &+= UInt32(lengthOfLine(at: reader.position))
    }
    reader.base = reader.position &- offset
  }

  /// Whole lines go.
  private func lengthOfLine(at position: UInt32) -> Int {
    withUnsafeTemporaryAllocation(byteCount: LastingMemory.textLineLimit, alignment: 8) { buffer in
      let count = copy(from: position, into: buffer)
      return buffer[..<count].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? count
    }
  }

  private func copy(from position: UInt32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let memory else { return 0 }
    return memory.copyText(from: memory[.textEnd] &- UInt64(left(from: position)), into: buffer)
  }

  fileprivate func read(_ id: Int, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    state.withLock { state in
      guard var reader = state.readers[id] else { return nil }
      place(&reader, at: offset)
      let count = copy(from: reader.position, into: buffer)
      reader.position &+= UInt32(count)
      reader.keepPlace()
      state.readers[id] = reader
      return count > 0 ? count : nil
    }
  }

  fileprivate func wait(
    _ id: Int, at offset: Int64, _ completion: @escaping @Sendable (Errno?) -> Void
  ) -> @Sendable () -> Void {
    let waiter = state.withLock { state -> Int? in
      guard var reader = state.readers[id] else { return nil }
      place(&reader, at: offset)
      guard left(from: reader.position) == 0 else { return nil }
      let waiter = reader.nextWaiter
      reader.nextWaiter += 1
      reader.waiting[waiter] = Callback(completion)
      reader.keepPlace()
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
    state.withLock { state in state.readers[id].map { left(from: $0.position) > 0 } ?? false }
  }

  fileprivate func whenPollable(_ id: Int, _ notice: @escaping @Sendable () -> Void) {
    let isReadable = state.withLock { state in
      if let reader = state.readers[id], left(from: reader.position) > 0 { return true }
      state.readers[id]?.notice = Callback(notice)
      return false
    }
    if isReadable { notice() }
  }

  fileprivate func keepPlace(_ id: Int, _ keep: @escaping @Sendable (UInt64) -> Void) {
    state.withLock { state in
      state.readers[id]?.keep = keep
      state.readers[id]?.keepPlace()
    }
  }

  fileprivate func close(_ id: Int) {
    let waiting = state.withLock { state in
      let reader = state.readers.removeValue(forKey: id)
      rest(&state)
      return reader?.waiting.values.map { $0 } ?? []
    }
    for completion in waiting { completion(.EINTR) }
  }
}

extension EventLog.Reader {
  fileprivate func keepPlace() {
    if let base { keep?(UInt64(base) << 32 | UInt64(position)) }
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
  func keepPlace(_ keep: @escaping @Sendable (UInt64) -> Void) { log.keepPlace(id, keep) }

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
