internal import Catalog
internal import PodcastModel
internal import PosixKit

/// Tells a program that looks into one result of a search after the other (a file manager that counts what is in each)
/// from a person who opens one, and has the feeds that it will want next fetched beside the one that it waits for.
///
/// A few, and only as far ahead: what it does not come to is hardly asked for.
package final class LooksAhead: Sendable {
  private struct Counter {
    /// Looks in a row, each right after the one before and into another result.
    var count = 0
    var result: Int64?
    var ended: MonotonicTime?
  }
  private struct State {
    var counters: [Program: Counter] = [:]
    /// When the last look of any of them ended.
    var lastEnded: MonotonicTime?
    /// First looks that programs wait for.
    var waiting: [Program: Int] = [:]
    /// Podcasts whose feeds are being fetched ahead, with their hosts.
    var ahead: [Int64: String] = [:]
    /// Hosts from which a feed could not be fetched, and until when nothing is fetched ahead from them.
    var resting: [String: MonotonicTime] = [:]
    /// Why a feed could not be fetched ahead: for the look that comes next, in place of asking again at once.
    var failures: [Int64: (errno: Errno, until: MonotonicTime)] = [:]
  }
  private let state = Monitor(State())

  /// The look of a program from which on it counts.
  private static let counts = 3
  /// Seconds between the end of a look and the next one's begin: people take longer.
  private let pause: Double
  /// Feeds that are fetched ahead at once, and how many of them from one host.
  static let most = 4
  private static let perHost = 2
  /// In seconds.
  private static let rest = 60.0
  private static let remembered = 30.0
  /// Entries of each table.
  private static let limit = 256

  package init(pause: Double = 0.5) { self.pause = pause }

  /// A program begins to wait for a feed.
  /// - Returns: whether it counts.
  func begins(_ program: Program, in result: Int64) -> Bool {
    state.withLock { state in
      state.waiting[program, default: 0] += 1
      return note(program, result, &state)
    }
  }

  /// A program looks into a result whose feed is here.
  /// - Returns: whether it counts.
  func passes(_ result: Int64, _ program: () -> Program?) -> Bool {
    // Most of the time nobody does, and nothing need be looked up.
    guard state.withLock({ isRecent($0.lastEnded) }), let program = program() else { return false }
    return state.withLock { state in
      defer { Self.end(program, &state) }
      return note(program, result, &state)
    }
  }

  private func isRecent(_ time: MonotonicTime?) -> Bool {
    time.map { MonotonicTime.now.seconds(since: $0) < pause } ?? false
  }

  private static func end(_ program: Program, _ state: inout State) {
    state.counters[program]?.ended = .now
    state.lastEnded = .now
  }

  private func note(_ program: Program, _ result: Int64, _ state: inout State) -> Bool {
    if state.counters.count >= Self.limit { state.counters = [:] }
    var counter = state.counters[program] ?? Counter()
    if counter.result == result { return false }
    counter.count = isRecent(counter.ended) ? counter.count + 1 : 1
    counter.ended = nil
    counter.result = result
    state.counters[program] = counter
    return counter.count >= Self.counts
  }

  /// The feed is here, or can't be had.
  func ended(_ program: Program, host: String?, isFailed: Bool) {
    state.withLock { state in
      Self.end(program, &state)
      let left = (state.waiting[program] ?? 1) - 1
      state.waiting[program] = left > 0 ? left : nil
      if isFailed, let host { Self.rest(host, &state) }
    }
  }

  /// Takes a place for a feed that `program` will want.
  /// - Returns: false where there is none: enough are under way, the host is left alone, or somebody else waits for a
  ///   feed, who is not to be delayed.
  func begins(ahead podcast: Int64, host: String, for program: Program) -> Bool {
    let now = MonotonicTime.now
    return state.withLock { state in
      guard state.ahead.count < Self.most, state.ahead[podcast] == nil, state.failures[podcast] == nil,
        state.ahead.values.count(where: { $0 == host }) < Self.perHost,
        state.resting[host].map({ $0 <= now }) ?? true, state.waiting.keys.allSatisfy({ $0 == program })
      else { return false }
      state.ahead[podcast] = host
      return true
    }
  }

  func ended(ahead podcast: Int64, failure: Errno?) {
    state.withLock { state in
      guard let host = state.ahead.removeValue(forKey: podcast), let failure else { return }
      Self.rest(host, &state)
      if state.failures.count >= Self.limit { state.failures = [:] }
      state.failures[podcast] = (failure, .after(Self.remembered))
    }
  }

  /// Why its feed could not be fetched ahead a moment ago: told once.
  func takeFailure(of podcast: Int64) -> Errno? {
    let failure = state.withLock { $0.failures.removeValue(forKey: podcast) }
    return failure.flatMap { $0.until > .now ? $0.errno : nil }
  }

  private static func rest(_ host: String, _ state: inout State) {
    if state.resting.count >= limit { state.resting = [:] }
    state.resting[host] = .after(rest)
  }
}

extension PodcastTree {
  /// Has the feeds of the results behind `result` fetched, for a program that will look into them next. On the loader's
  /// thread.
  func lookAhead(of result: Int64, for program: Program) throws {
    let folders = world.withLock { world in
      world.results.values.lazy.compactMap { folders in
        folders.firstIndex { $0.id == result }.map { folders[($0 + 1)...].prefix(LooksAhead.most * 4) }
      }.first.map(Array.init) ?? []
    }
    var begun = 0
    for folder in folders where begun < LooksAhead.most {
      guard let podcast = try catalog.podcast(folder.podcast), !podcast.isFetched, podcast.error == nil else {
        continue
      }
      // What is under way already counts: it is no further ahead.
      begun += 1
      guard looksAhead.begins(ahead: podcast.id, host: podcast.feedURL.host ?? "", for: program) else {
        continue
      }
      _ = catalog.refresh(podcast: podcast.id, cause: .ahead) { [weak self] result in
        var failure: Errno?
        if case .failure(let error) = result { failure = error.errnoOfFolder }
        self?.looksAhead.ended(ahead: podcast.id, failure: failure)
      }
    }
  }
}
