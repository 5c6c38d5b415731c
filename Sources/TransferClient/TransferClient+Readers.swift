internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferClient {
  /// An episode that the daemon knows of.
  struct OpenEntry {
    /// Not kept alive by being open: closing it is its reader's.
    weak var episode: RemoteEpisode?
    let request: TransferRequest
    let intent: OpenIntent
    /// Called once, at the first answer; holds the episode until then.
    var completion: OpenCompletion?
    var pending: RemoteEpisode?
    var deadline: EventLoop.Timer?
    var retries = 0
    /// The generation that the daemon has named last; 0 for none.
    var named: UInt32 = 0
  }

  struct WaitEntry {
    let episode: RemoteEpisode
    let open: UInt64
    let offset: Int64
    let count: Int
    var retries = 0
    let completion: @Sendable (TransferFailure?) -> Void
    /// How much had come when it was last looked at, since when, and when that is next.
    var received: Int64
    var since = MonotonicTime.now
    var deadline: EventLoop.Timer?
  }

  func open(_ episode: RemoteEpisode, completion: @escaping OpenCompletion) -> any Cancellable {
    let number = episode.number
    let isTaken = loop.async {
      if self.isStopped { return completion(.failure(Self.stopped)) }
      self.register(episode)
      self.opens[number]?.completion = completion
      self.opens[number]?.pending = episode
      self.opens[number]?.deadline = self.loop.schedule(at: .after(self.readTimeout)) {
        self.finishOpen(number, .failure(self.timeout(of: episode)))
      }
      self.sayOpen(number)
    }
    if !isTaken { completion(.failure(Self.stopped)) }
    return Cancellation(self) { $0.finishOpen(number, .failure(Self.interrupted)) }
  }

  /// A reader of a part of an episode: the daemon that runs is told, so that it drops the part at the last close.
  func noteOpen(_ episode: RemoteEpisode) {
    loop.async {
      if !self.isStopped, self.register(episode), self.welcomed != nil { self.sayOpen(episode.number) }
    }
  }

  /// From now on the daemon is told of it, under its number.
  /// - Returns: whether it was not before.
  @discardableResult
  private func register(_ episode: RemoteEpisode) -> Bool {
    guard opens[episode.number] == nil else { return false }
    opens[episode.number] = OpenEntry(episode: episode, request: episode.request, intent: episode.intent)
    return true
  }

  func sayOpen(_ number: UInt64) {
    guard let entry = opens[number] else { return }
    let generation = entry.episode.flatMap { $0.generation > 0 ? $0.generation : nil }
    // An open that has no answer yet takes whatever generation there is then.
    say(
      .open(id: number, entry.request, entry.intent, generation: entry.completion == nil ? generation : nil))
  }

  /// The daemon has opened it, or begun the generation that it waited for.
  func opened(_ number: UInt64, _ generation: UInt32) {
    guard let entry = opens[number], let episode = entry.episode else { return }
    opens[number]?.named = generation
    if generation > 0 {
      do {
        episode.attach(try EpisodeReader(layout, episode.request.key, generation))
      } catch {
        // Deleted between the daemon's word and now: it finds out when it is asked again.
        if entry.completion != nil, entry.retries < 3 {
          opens[number]?.retries += 1
          return sayOpen(number)
        }
        finishOpen(number, .failure(TransferFailure(.EIO, "\(error)")))
      }
    }
    finishOpen(number, .success(episode))
    for (wait, entry) in waits where entry.open == number {
      if episode.canRead(at: entry.offset, count: entry.count) { finishWait(wait, nil) }
    }
  }

  func finishOpen(_ number: UInt64, _ result: Result<any OpenEpisode, TransferFailure>) {
    guard let completion = opens[number]?.completion else { return }
    opens[number]?.completion = nil
    let episode = opens[number]?.pending
    opens[number]?.pending = nil
    if let timer = opens[number]?.deadline { loop.cancel(timer) }
    if case .failure(let failure) = result {
      if let request = opens[number]?.request { note(failure, ofReading: request) }
      closeNow(number)
    }
    completion(result)
    _ = episode
  }

  func close(_ number: UInt64) { loop.async { self.closeNow(number) } }

  private func closeNow(_ number: UInt64) {
    guard opens.removeValue(forKey: number) != nil else { return }
    for (wait, entry) in waits where entry.open == number {
      finishWait(wait, TransferFailure(.EBADF, "closed"))
    }
    connection?.send(ClientMessage.close(id: number))
  }

  func wait(
    _ episode: RemoteEpisode, at offset: Int64, count: Int,
    completion: @escaping @Sendable (TransferFailure?) -> Void
  ) -> any Cancellable {
    let number = nextNumber()
    let isTaken = loop.async {
      if self.isStopped { return completion(Self.stopped) }
      let open = episode.number
      if self.register(episode) { self.sayOpen(open) }
      if self.isInVain(episode, offset) {
        let failure = self.timeout(of: episode)
        self.note(failure, ofReading: episode.request)
        return completion(failure)
      }
      self.waits[number] = WaitEntry(
        episode: episode, open: open, offset: offset, count: count, completion: completion,
        received: self.received(of: episode))
      self.watch(number)
      self.sayWait(number)
    }
    if !isTaken { completion(Self.stopped) }
    return Cancellation(self) { $0.finishWait(number, Self.interrupted, tells: true) }
  }

  /// The daemon has what is waited for. A reader that began without it, or with a file that was deleted since, looks
  /// anew.
  func available(_ number: UInt64) {
    guard let entry = waits[number] else { return }
    let episode = entry.episode
    if episode.current?.isLive != true || !episode.canRead(at: entry.offset, count: entry.count) {
      let generation = episode.current?.generation ?? opens[entry.open]?.named ?? 0
      do {
        episode.attach(try EpisodeReader(layout, episode.request.key, generation))
      } catch {
        // It would ask again and again for what it can't open, as where there are no more descriptors. What has been
        // deleted meanwhile comes again.
        if episode.current == nil, error.errno != .ENOENT {
          return finishWait(number, TransferFailure(.EIO, "\(error)"))
        }
        if error.errno == .ENOENT { return askAgain(number, looksAnew: true) }
      }
    }
    if !episode.canRead(at: entry.offset, count: entry.count) { return askAgain(number) }
    finishWait(number, nil)
  }

  func sayWait(_ number: UInt64) {
    guard let entry = waits[number] else { return }
    say(.wait(id: number, open: entry.open, offset: entry.offset, count: Int64(entry.count)))
  }

  /// What was there a moment ago is not.
  /// - Parameter looksAnew: whether the daemon is to look for the file, too.
  private func askAgain(_ number: UInt64, looksAnew: Bool = false) {
    guard let entry = waits[number] else { return }
    if entry.retries == 3 { return finishWait(number, .gone) }
    waits[number]?.retries += 1
    if looksAnew { sayOpen(entry.open) }
    sayWait(number)
  }

  /// Ends a wait after `read_timeout` without a single new byte, a sixteenth of that later at the most.
  private func watch(_ number: UInt64) {
    guard let entry = waits[number] else { return }
    let patience = readTimeout
    let next = min(MonotonicTime.after(patience / 16), entry.since.adding(patience))
    waits[number]?.deadline = loop.schedule(at: next) {
      guard let entry = self.waits[number] else { return }
      let received = self.received(of: entry.episode)
      if received != entry.received {
        self.waits[number]?.received = received
        self.waits[number]?.since = .now
      } else if entry.since.adding(patience) <= .now {
        self.vain = self.vain.filter { $0.value.until > .now }
        self.vain[entry.episode.request.key] = (entry.offset, .after(Self.vainTime))
        return self.finishWait(number, self.timeout(of: entry.episode), tells: true)
      }
      self.watch(number)
    }
  }

  /// Whether a wait for about the same bytes ended a moment ago. Then these have been waited for already: the kernel
  /// reads once more what it could not read ahead, and then for each other reader of that page, one behind the other.
  private func isInVain(_ episode: RemoteEpisode, _ offset: Int64) -> Bool {
    self.vain[episode.request.key].map { $0.until > .now && abs(offset - $0.offset) < 1 << 20 } ?? false
  }

  private static let vainTime = 0.25

  /// How much has come of it; also where its reader has a file that is not written to any more.
  private func received(of episode: RemoteEpisode) -> Int64 {
    if let reader = episode.current, reader.isLive { return reader.received }
    let generation = opens[episode.number]?.named ?? episode.generation
    let live = LiveMap.received(layout, episode.request.key, generation)
    return live ?? episode.current?.received ?? 0
  }

  private func timeout(of episode: RemoteEpisode) -> TransferFailure {
    let host = WebAddress(episode.request.url).host ?? "the host"
    let status = mirror.status(of: episode.request.key)
    if status?.state == .paused, status?.error == nil {
      return TransferFailure(.EIO, "the download is paused")
    }
    return TransferFailure(
      .EIO, status?.error ?? "nothing came from \(host) for \(Self.seconds(readTimeout))")
  }

  /// "60 s", "0.1 s".
  private static func seconds(_ value: Double) -> String {
    value == value.rounded() ? "\(Int64(value)) s" : "\(value) s"
  }

  /// - Parameter tells: whether the daemon still thinks that it waits.
  func finishWait(_ number: UInt64, _ failure: TransferFailure?, tells: Bool = false) {
    guard let entry = waits.removeValue(forKey: number) else { return }
    if let timer = entry.deadline { loop.cancel(timer) }
    if tells { connection?.send(ClientMessage.endWait(id: number)) }
    if let failure { note(failure, ofReading: entry.episode.request) }
    entry.completion(failure)
  }
}

/// Gives up an open, a wait or an order. The client's thread has begun it by then: it does everything in order.
final class Cancellation: Cancellable {
  private let client: TransferClient
  private let body: @Sendable (TransferClient) -> Void

  init(_ client: TransferClient, _ body: @escaping @Sendable (TransferClient) -> Void) {
    (self.client, self.body) = (client, body)
  }

  func cancel() { client.loop.async { [client, body] in body(client) } }
}
