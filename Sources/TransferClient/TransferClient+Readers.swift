internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferClient {
  struct OpenEntry {
    /// Not kept alive by being open: closing it is its reader's.
    weak var episode: RemoteEpisode?
    let request: TransferRequest
    let intent: OpenIntent
    /// The generation that the daemon has named last; 0 for none.
    var named: UInt32 = 0
  }

  /// What the daemon has still to answer. An open has the number of its episode.
  struct Question {
    enum Kind {
      case open(RemoteEpisode)
      case wait(Wait)
      case order(TransferOrder)
    }
    var kind: Kind
    var retries = 0
    var deadline: EventLoop.Timer
    let completion: @Sendable (TransferFailure?) -> Void
  }

  struct Wait {
    let episode: RemoteEpisode
    let offset: Int64
    let count: Int
    /// How much had come when it was last looked at, and since when.
    var received: Int64
    var since = MonotonicTime.now
  }

  func open(
    _ episode: RemoteEpisode,
    completion: @escaping @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void
  ) -> any Cancellable {
    let number = episode.number
    let ended: OrderCompletion = { failure in
      if let failure { completion(.failure(failure)) } else { completion(.success(episode)) }
    }
    return ask(number, ended) {
      self.register(episode)
      // Whoever opens it again, perhaps to resume it, waits again.
      self.vain[episode.request.key] = nil
      let deadline = self.loop.schedule(at: .after(self.readTimeout)) {
        self.finish(number, self.timeout(of: episode))
      }
      self.questions[number] = Question(kind: .open(episode), deadline: deadline, completion: ended)
      self.say(number)
    }
  }

  /// A reader of a part of an episode: the daemon that runs is told, so that it drops the part at the last close.
  func noteOpen(_ episode: RemoteEpisode) {
    loop.async {
      if !self.isStopped, self.register(episode), self.isServing { self.say(episode.number) }
    }
  }

  /// - Returns: whether it was not registered before.
  @discardableResult
  private func register(_ episode: RemoteEpisode) -> Bool {
    guard opens[episode.number] == nil else { return false }
    opens[episode.number] = OpenEntry(episode: episode, request: episode.request, intent: episode.intent)
    return true
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
        if error.errno == .ENOENT, let question = questions[number], question.retries < 3 {
          questions[number]?.retries += 1
          return say(number)
        }
        return finish(number, TransferFailure(reading: error))
      }
    }
    finish(number, nil)
    for (number, question) in questions {
      guard case .wait(let wait) = question.kind, wait.episode === episode else { continue }
      if episode.canRead(at: wait.offset, count: wait.count) { finish(number, nil) }
    }
  }

  func close(_ number: UInt64) { loop.async { self.closeNow(number) } }

  func closeNow(_ number: UInt64) {
    guard opens.removeValue(forKey: number) != nil else { return }
    for (wait, question) in questions {
      guard case .wait(let it) = question.kind, it.episode.number == number else { continue }
      finish(wait, TransferFailure(.EBADF, "closed"))
    }
    connection?.send(ClientMessage.close(id: number))
  }

  func wait(
    _ episode: RemoteEpisode, at offset: Int64, count: Int, completion: @escaping OrderCompletion
  ) -> any Cancellable {
    let number = nextNumber()
    return ask(number, completion) {
      if self.register(episode) { self.say(episode.number) }
      if self.isInVain(episode, offset) {
        let failure = self.timeout(of: episode)
        self.note(failure, ofReading: episode.request)
        return completion(failure)
      }
      let wait = Wait(
        episode: episode, offset: offset, count: count, received: self.received(of: episode))
      self.questions[number] = Question(
        kind: .wait(wait), deadline: self.watch(number, since: wait.since), completion: completion)
      self.say(number)
    }
  }

  /// The daemon has what is waited for. A reader without it, or with a file that was deleted since, looks anew.
  func available(_ number: UInt64, _ wait: Wait) {
    let episode = wait.episode
    if episode.current?.isLive != true || !episode.canRead(at: wait.offset, count: wait.count) {
      let generation = episode.current?.generation ?? opens[episode.number]?.named ?? 0
      do {
        episode.attach(try EpisodeReader(layout, episode.request.key, generation))
      } catch {
        // What has been deleted meanwhile comes again: the daemon looks for the file, too.
        if error.errno == .ENOENT { return askAgain(number, wait, looksAnew: true) }
        if episode.current == nil { return finish(number, TransferFailure(reading: error)) }
      }
    }
    if !episode.canRead(at: wait.offset, count: wait.count) { return askAgain(number, wait) }
    finish(number, nil)
  }

  /// What was there a moment ago is not.
  private func askAgain(_ number: UInt64, _ wait: Wait, looksAnew: Bool = false) {
    if questions[number]?.retries == 3 { return finish(number, .gone) }
    questions[number]?.retries += 1
    if looksAnew { say(wait.episode.number) }
    say(number)
  }

  /// Ends a wait after `read_timeout` without a single new byte, a sixteenth of that later at the most.
  private func watch(_ number: UInt64, since: MonotonicTime) -> EventLoop.Timer {
    loop.schedule(at: min(.after(readTimeout / 16), since.adding(readTimeout))) {
      guard case .wait(var wait) = self.questions[number]?.kind else { return }
      let received = self.received(of: wait.episode)
      if received != wait.received {
        (wait.received, wait.since) = (received, .now)
      } else if wait.since.adding(self.readTimeout) <= .now {
        self.vain = self.vain.filter { $0.value.until > .now }
        self.vain[wait.episode.request.key] = (wait.offset, .after(Self.vainTime))
        return self.giveUp(number, self.timeout(of: wait.episode))
      }
      self.questions[number]?.kind = .wait(wait)
      self.questions[number]?.deadline = self.watch(number, since: wait.since)
    }
  }

  /// Whether a wait for about the same bytes ended a moment ago. Then these have been waited for already: the kernel
  /// reads once more what it could not read ahead, and then for each other reader of that page, one behind the other.
  private func isInVain(_ episode: RemoteEpisode, _ offset: Int64) -> Bool {
    vain[episode.request.key].map { $0.until > .now && abs(offset - $0.offset) < 1 << 20 } ?? false
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
    let status = mirror.status(of: episode.request.key)
    if status?.state == .paused, status?.error == nil { return .lasting("the download is paused") }
    let host = WebAddress(episode.request.url).host ?? "the host"
    let isWhole = readTimeout == readTimeout.rounded()
    let seconds = isWhole ? "\(Int64(readTimeout))" : "\(readTimeout)"
    return .lasting(status?.error ?? "nothing came from \(host) for \(seconds) s")
  }
}

extension TransferFailure {
  /// Why a file of the cache cannot be opened. That this process has no descriptor left is no failure of the episode.
  fileprivate init(reading error: PosixError) {
    let isOutOfDescriptors = error.errno == .EMFILE || error.errno == .ENFILE
    self.init(isOutOfDescriptors ? .ENFILE : .EIO, "\(error)")
  }
}
