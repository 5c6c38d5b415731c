internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `.podcastfs/events`: a line of JSON for each change of state, new episode and finished refresh. Every reader gets the
/// lines from when it opened the file on.
final class EventLog: Sendable {
  private let streams = Monitor<[ObjectIdentifier: EventStream]>([:])

  func open() -> any OpenFile {
    let stream = EventStream(log: self)
    streams.withLock { $0[ObjectIdentifier(stream)] = stream }
    return stream
  }

  fileprivate func close(_ stream: EventStream) {
    streams.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(stream)) }
  }

  /// Whether anybody reads: else nobody needs to look up what happens.
  var hasReaders: Bool { streams.withLock { !$0.isEmpty } }

  func record(_ status: TransferStatus, of entry: EpisodeEntry) {
    let status = status.withLength(ofFeed: EpisodeSize.plausibleLength(of: entry.episode))
    record(
      "state",
      [
        "state": status.state.name, "show": entry.podcast.title, "title": entry.episode.title,
        "name": entry.episode.fileName, "guid": entry.episode.guid, "progress": status.progressText,
        "bytes_received": status.received, "bytes_total": status.total, "error": status.reason,
      ])
  }

  func record(new episodes: [Episode], of podcast: Podcast) {
    for episode in episodes {
      record(
        "new_episode",
        [
          "show": podcast.title, "title": episode.title, "name": episode.fileName, "guid": episode.guid,
          "published": CivilTime.iso8601(episode.published),
        ])
    }
  }

  func record(refreshed podcast: Podcast) {
    record(
      "refreshed",
      [
        "show": podcast.title, "feed_url": podcast.feedURL.shown(isListed: podcast.isListed),
        "episode_count": podcast.episodeCount, "error": podcast.error,
      ])
  }

  func record(imported: OPMLImport) {
    record(
      "imported",
      [
        "added": imported.added, "known": imported.known, "episodes": imported.episodes + imported.awaited,
        "problem_count": imported.problems.count,
        "problems": imported.problems.prefix(Self.problemLimit).map { $0.cut(toBytes: 256) },
      ])
  }

  func recordSynchronized(added: Int, removed: Int, episodes: Int) {
    record("synced", ["subscriptions_added": added, "subscriptions_removed": removed, "episodes": episodes])
  }

  static let problemLimit = 20
  /// Of one text, in bytes: an event is never too long for the memory that keeps it.
  private static let textLimit = 1024

  private func record(_ event: String, _ members: KeyValuePairs<String, any JSONRepresentable>) {
    let bounded = members.map { name, value -> (String, JSONValue) in
      (name, (value as? String).map { .string($0.cut(toBytes: Self.textLimit)) } ?? value.json)
    }
    let time = JSONValue.string(CivilTime.iso8601(wallClockSeconds()))
    let value = JSONValue.object([("event", .string(event)), ("time", time)] + bounded)
    let line = Array(value.compactText.utf8) + [UInt8(ascii: "\n")]
    for stream in streams.withLock({ Array($0.values) }) { stream.add(line) }
  }
}

/// One open `.podcastfs/events`: the lines that were recorded and not read yet. The kernel reads it from front to back.
private final class EventStream: OpenFile {
  private struct State {
    var text: [UInt8] = []
    /// Reads that wait for the next line, by their numbers; under 0 the programs that wait in poll(2).
    var waiting: [Int: Callback<Errno?>] = [:]
    var lastWait = 0

    mutating func takeWaiting() -> [Callback<Errno?>] {
      defer { waiting = [:] }
      return Array(waiting.values)
    }
  }
  private let log: EventLog
  private let state = Monitor(State())
  /// In bytes. A reader that is further behind loses its oldest lines.
  private static let limit = 1 << 20
  init(log: EventLog) { self.log = log }
  var isStream: Bool { true }
  var size: Int64? { nil }

  func add(_ line: [UInt8]) {
    let waiting = state.withLock { state in
      state.text += line
      if state.text.count > Self.limit,
        let last = state.text[(state.text.count / 2)...].firstIndex(of: UInt8(ascii: "\n"))
      {
        state.text.removeFirst(last + 1)
      }
      return state.takeWaiting()
    }
    for completion in waiting { completion(nil) }
  }

  func isReady(orAt change: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.text.isEmpty { state.waiting[0] = Callback { _ in change() } }
      return !state.text.isEmpty
    }
  }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    state.withLock { state in
      let part = state.text.prefix(buffer.count)
      if part.isEmpty { return nil }
      buffer.copyBytes(from: part)
      state.text.removeFirst(part.count)
      return .success(part.count)
    }
  }

  func whenReadable(at offset: Int64, count: Int) -> Answer<Void> {
    .pending { [self] cancellation, completion in
      let number = state.withLock { state -> Int? in
        guard state.text.isEmpty else { return nil }
        state.lastWait += 1
        state.waiting[state.lastWait] = Callback { completion($0.map { .failure($0) } ?? .success(())) }
        return state.lastWait
      }
      guard let number else { return completion(.success(())) }
      cancellation.begin { { [self] in state.withLock { $0.waiting.removeValue(forKey: number) }?(.EINTR) } }
    }
  }

  func close() {
    log.close(self)
    for completion in state.withLock({ $0.takeWaiting() }) { completion(.EINTR) }
  }
}
