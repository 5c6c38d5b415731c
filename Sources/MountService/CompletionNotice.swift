internal import BusKit
internal import Catalog
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// Notifies the user when a download is complete or fails, and runs the user's command for a complete one (`notify`,
/// `on_complete`). One notification shows the progress of the downloads that run, and is replaced when they have ended.
///
/// What notifications need belongs to its loop's thread, which makes this Sendable. That thread starts when the first
/// download changes.
final class CompletionNotice: @unchecked Sendable {
  private typealias Event = NotificationContent.Event
  private let settings: Settings
  private let mountPoint: String
  private let places: Places
  private let log: LogFile
  /// The rule `notify` of a podcast; nil where it has none.
  private let rule: @Sendable (_ podcast: Int64) -> Bool?
  /// `notify` and `on_complete`, where this mount is the one of its user's that acts.
  private let roles = Monitor<Set<String>>([])
  /// Each thread runs one command at a time; further completions wait.
  private let commands = WorkQueue(name: "on-complete", threads: 2)
  private let runningLoop = Monitor<EventLoop?>(nil)
  private var bus: Bus?
  private var timer: EventLoop.Timer?
  /// What has ended and is not shown yet.
  private var events: [Event] = []
  private var states: [MediaKey: TransferState] = [:]
  /// Downloads that were seen to run since none ran.
  private var batch: [MediaKey: TransferStatus] = [:]
  private var progress = Progress.none
  /// Notifications with buttons, by their numbers.
  private var shown: [UInt32: NotificationContent] = [:]

  private enum Progress: Equatable {
    case none
    case shown(UInt32, NotificationContent)
    /// The user does not want to see this one.
    case dismissed
  }

  /// Seconds: after the last end, until all are shown; that a download runs before its progress is shown; between two steps.
  private static let (quiet, patience, step) = (2.0, 5.0, 2.0)
  private static let mostTitles = 3

  init(_ request: MountRequest, rule: @escaping @Sendable (_ podcast: Int64) -> Bool?) {
    (settings, mountPoint, places) = (request.settings, request.mountPoint, request.places)
    (log, self.rule) = (request.log, rule)
  }

  func completed(_ entry: EpisodeEntry, _ status: TransferStatus) {
    let (episode, podcast) = (entry.episode, entry.podcast)
    let folder = "\(mountPoint)/Downloaded/\(podcast.name)"
    let path = "\(folder)/\(episode.fileName)"
    if let command = settings.onComplete {
      commands.async { [self] in
        if !acts("on_complete") { return }
        // The command's files get the user's own umask, not the private one of this process.
        let script = "umask \(String(UserMask.bits, radix: 8))\n\(command)"
        run("on_complete", "/bin/sh", ["-c", script], environment(path, entry, status))
      }
    }
    perform { [self] loop in
      let cover = SidecarCopies.cover(of: podcast, in: places).map { "\(folder)/\($0)" }
      add(Event(title: episode.title, show: "", path: path, cover: cover), podcast, loop)
    }
  }

  func watch(_ transfers: TransferClient) {
    states = transfers.allStatuses().reduce(into: [:]) { $0[$1.key] = $1.state }
    transfers.observe { [self] key in
      guard let status = transfers.status(of: key), status.isEpisode else { return }
      perform { [self] in changed(status, $0) }
    }
  }

  func appeared(_ episodes: [Episode], ofPodcast podcast: Int64) {
    perform { [self] loop in
      let folder = KnownEntries.folderNames(ofPodcasts: [podcast], inFile: catalogue)[podcast] ?? ""
      let titles = episodes.suffix(Self.mostTitles).reversed().map(\.title).joined(separator: ", ")
      let rest = episodes.count - Self.mostTitles
      let line = titles + (rest > 0 ? " and \(rest) more" : "")
      notify(NotificationContent(summary: "New in \(folder)", lines: [line]), loop)
    }
  }

  private var catalogue: String { places.data + "/catalog.sqlite" }

  /// Runs `body` on the loop's thread, where this mount is the one that notifies.
  private func perform(_ body: @escaping @Sendable (EventLoop) -> Void) {
    guard settings.notifies, Notifications.isPossible else { return }
    let loop = runningLoop.withLock { running in
      if running == nil, let loop = try? EventLoop(),
        PosixThread.attempt("notify", stackSize: 1 << 20, { loop.run() })
      {
        running = loop
      }
      return running
    }
    loop?.async { [self] in if let loop, acts("notify") { body(loop) } }
  }

  private func changed(_ status: TransferStatus, _ loop: EventLoop) {
    let before = states.updateValue(status.state, forKey: status.key)
    if status.state == .failed, before != .failed {
      let podcast = KnownEntries.all(forKeys: [status.key], inFile: catalogue).first?.podcast
      add(Event(title: status.title, show: status.show, error: status.error ?? "it failed"), podcast, loop)
    }
    let wasRunning = isRunning
    switch status.state {
    case .downloading: batch[status.key] = status
    // It waits for a slot, not for a network or room.
    case .queued: batch[status.key] = status.error == nil ? status : nil
    case .cached: if batch[status.key] != nil { batch[status.key] = status }
    case .paused, .failed, .remote: batch[status.key] = nil
    }
    if isRunning {
      update(after: progress == .none ? Self.patience : Self.step, loop)
    } else if wasRunning {
      if let timer { loop.cancel(timer) }
      timer = nil
      update(after: Self.quiet, loop)
    }
  }

  /// Shows an end soon, unless the podcast's rule says no.
  private func add(_ event: Event, _ podcast: Podcast?, _ loop: EventLoop) {
    if let podcast, rule(podcast.id) == false { return }
    var event = event
    if let podcast {
      event.show =
        KnownEntries.folderNames(ofPodcasts: [podcast.id], inFile: catalogue)[podcast.id] ?? podcast.title
    }
    events.append(event)
    update(after: Self.quiet, loop)
  }

  private var isRunning: Bool { batch.values.contains { $0.state != .cached } }

  private func update(after seconds: Double, _ loop: EventLoop) {
    if timer != nil { return }
    timer = loop.schedule(at: .after(seconds)) { [self] in
      timer = nil
      let failed = events.filter { $0.error != nil }
      events.removeAll { $0.error != nil }
      notify(NotificationContent.failed(failed, folder: mountPoint + "/Downloading/Failed"), loop)
      if isRunning { showProgress(loop) } else { showEnd(loop) }
    }
  }

  private func showProgress(_ loop: EventLoop) {
    if progress == .dismissed { return }
    let running = batch.values.filter { $0.state != .cached }.sorted {
      ($0.state == .queued ? 1 : 0, $0.order, $0.key) < ($1.state == .queued ? 1 : 0, $1.order, $1.key)
    }
    // Each counts as much as another one: sizes are known only of those that have begun.
    let done = batch.values.reduce(0) { $0 + $1.fraction } / Double(batch.count)
    let content = NotificationContent.running(
      running.map { ($0.title, $0.show) }, of: batch.count, percent: Int(min(done, 1) * 100))
    if case .shown(let id, let last) = progress {
      if last == content { return }
      progress = .shown(id, content)
      return call("Notify", content.arguments(replacing: id), loop) { _ in }
    }
    call("Notify", content.arguments(replacing: 0), loop) { [self] id in
      // All may have ended meanwhile.
      if isRunning { progress = .shown(id, content) } else { close(id, loop) }
    }
  }

  /// What has ended replaces the progress.
  private func showEnd(_ loop: EventLoop) {
    var place: UInt32 = 0
    if case .shown(let id, _) = progress { place = id }
    let content = NotificationContent.complete(events)
    (progress, batch, events) = (.none, [:], [])
    notify(content, replacing: place, loop)
    if content == nil, place != 0 { close(place, loop) }
  }

  private func notify(_ content: NotificationContent?, replacing id: UInt32 = 0, _ loop: EventLoop) {
    guard let content else { return }
    call("Notify", content.arguments(replacing: id), loop) { [self] in shown[$0] = content }
  }

  private func close(_ id: UInt32, _ loop: EventLoop) {
    call("CloseNotification", [.uint32(id)], loop) { _ in }
  }

  /// - Parameter answered: is called with the notification's number where the service has told one.
  private func call(
    _ member: String, _ arguments: [BusValue], _ loop: EventLoop, answered: @escaping (UInt32) -> Void
  ) {
    do {
      NotificationContent.call(try connected(loop), member, arguments) { [self] answer in
        do {
          if let id = try answer.get().first?.integer { answered(UInt32(truncatingIfNeeded: id)) }
        } catch {
          log.write("cannot show a notification: \(error)")
        }
      }
    } catch {
      log.write("cannot show a notification: \(error)")
    }
  }

  private func connected(_ loop: EventLoop) throws -> Bus {
    if let bus { return bus }
    let bus = try Bus(.session, loop: loop) { [self] in
      self.bus = nil
      (shown, progress) = ([:], .none)
    }
    func match(_ member: String, _ handler: @escaping (UInt32, Bus.Signal) -> Void) {
      let service = NotificationContent.service
      bus.match("type='signal',interface='\(service)',member='\(member)'") { signal in
        if let id = signal.values.first?.integer { handler(UInt32(truncatingIfNeeded: id), signal) }
      }
    }
    match("ActionInvoked") { [self] id, signal in
      guard let content = shown[id],
        let path = signal.values.last?.text == "play" ? content.playable : content.folder
      else { return }
      _ = PosixThread.attempt("open") { [self] in run("xdg-open", "xdg-open", [path], nil) }
    }
    match("NotificationClosed") { [self] id, signal in
      shown[id] = nil
      // 2: by the user.
      if case .shown(id, _) = progress { progress = signal.values.last?.integer == 2 ? .dismissed : .none }
    }
    self.bus = bus
    return bus
  }

  private func run(_ name: String, _ path: String, _ arguments: [String], _ environment: [String: String]?) {
    do {
      let status = try ChildProcess.wait(ChildProcess.start(path, arguments, environment: environment))
      if status != 0 { log.write("\(name) ended with status \(status)") }
    } catch {
      log.write("cannot run \(name): \(error)")
    }
  }

  /// Titles are data to the shell, never part of a command.
  private func environment(
    _ path: String, _ entry: EpisodeEntry, _ status: TransferStatus
  ) -> [String: String] {
    let (episode, podcast) = (entry.episode, entry.podcast)
    let facts: [String: String?] = [
      "PATH": path, "TITLE": episode.title, "SHOW": podcast.title, "AUTHOR": podcast.author,
      "GUID": episode.guid, "URL": episode.enclosureURL.shown(isListed: podcast.isListed),
      "FEED_URL": podcast.feedURL.shown(isListed: podcast.isListed),
      "PUBLISHED": episode.isDated ? CivilTime.iso8601(episode.published) : nil,
      "DURATION": episode.duration.map { String($0) }, "SIZE": status.total.map { String($0) },
    ]
    return facts.reduce(into: Places.processEnvironment) { $0["PODCASTFS_" + $1.key] = $1.value }
  }

  /// Whether this mount is the one of its user's that acts: the daemon tells all of them the same. It is the first to lock
  /// the file of the role, until its process ends.
  private func acts(_ role: String) -> Bool {
    roles.withLock { roles in
      let path = "\(places.runtime)/\(role).lock"
      if !roles.contains(role), let file = try? FileDescriptor(opening: path, O_RDWR | O_CREAT),
        file.tryLock(.exclusive)
      {
        roles.insert(role)
        _ = file.release()
      }
      return roles.contains(role)
    }
  }
}

extension TransferStatus {
  /// How much of it is in the cache, from 0 to 1, as far as that is known.
  fileprivate var fraction: Double {
    if state == .cached { return 1 }
    return total.map { min(Double(received) / Double(max($0, 1)), 1) } ?? 0
  }
}
