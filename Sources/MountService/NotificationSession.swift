internal import BusKit
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import WebValues

/// The notifications that are shown, on the session's bus. It belongs to its loop's thread, which makes it Sendable.
final class NotificationSession: @unchecked Sendable {
  let loop: EventLoop
  private let folder: String
  private let log: LogFile
  private var bus: Bus?
  /// Downloads that have ended and are not shown yet; since when.
  private var events: [Notifications.Event] = []
  private var gathering: (timer: EventLoop.Timer, latest: MonotonicTime)?
  /// Downloads that were seen to run since none ran.
  private var batch: [MediaKey: TransferStatus] = [:]
  private var progress = Progress.none
  private var progressTimer: EventLoop.Timer?
  /// Notifications with buttons, by their numbers.
  private var shown: [UInt32: NotificationContent] = [:]

  private enum Progress: Equatable {
    case none
    case shown(UInt32, NotificationContent)
    /// The user does not want to see this one.
    case dismissed
  }

  /// Seconds: without a further end, after which those are shown, and from the first one at the most; that a download
  /// runs before its progress is shown, and between two steps of it.
  private static let (quiet, longest, patience, step) = (2.0, 15.0, 5.0, 2.0)

  /// - Parameter folder: the folder that "Show" opens for a failure.
  init(_ loop: EventLoop, folder: String, log: LogFile) {
    (self.loop, self.folder, self.log) = (loop, folder, log)
  }

  // MARK: What happens

  func ended(_ event: Notifications.Event) {
    events.append(event)
    gather()
  }

  private func gather() {
    let latest = gathering?.latest ?? .after(Self.longest)
    if let gathering { loop.cancel(gathering.timer) }
    let timer = loop.schedule(at: min(.after(Self.quiet), latest)) { [self] in
      gathering = nil
      showEnded()
    }
    gathering = (timer, latest)
  }

  func progressed(_ status: TransferStatus) {
    let wasRunning = isRunning
    switch status.state {
    case .downloading: batch[status.key] = status
    // It waits for a slot, not for a network or room.
    case .queued: batch[status.key] = status.error == nil ? status : nil
    case .cached: if batch[status.key] != nil { batch[status.key] = status }
    case .paused, .failed, .remote: batch[status.key] = nil
    }
    if isRunning {
      let seconds = progress == .none ? Self.patience : Self.step
      if progressTimer == nil {
        progressTimer = loop.schedule(at: .after(seconds)) { [self] in
          progressTimer = nil
          showProgress()
        }
      }
    } else if wasRunning {
      batch = [:]
      if let progressTimer { loop.cancel(progressTimer) }
      progressTimer = nil
      gather()
    } else {
      batch = [:]
    }
  }

  private var isRunning: Bool { batch.values.contains { $0.state != .cached } }

  // MARK: What is shown

  private func showProgress() {
    let running = batch.values.filter { $0.state != .cached }
      .sorted {
        ($0.state == .queued ? 1 : 0, $0.order, $0.key) < ($1.state == .queued ? 1 : 0, $1.order, $1.key)
      }
    // Each counts as much as another one: sizes are known only of those that have begun.
    let done = batch.values.map(\.fraction).reduce(0, +)
    guard progress != .dismissed,
      let content = NotificationContent.running(
        running.map { ($0.title, $0.show) }, of: batch.count,
        percent: Int(min(done / Double(batch.count), 1) * 100))
    else { return }
    if case .shown(let id, let last) = progress {
      if last == content { return }
      progress = .shown(id, content)
      notify(content, replacing: id) { _ in }
    } else {
      notify(content) { [self] id in
        progress = .shown(id, content)
        // It may have ended meanwhile.
        if !isRunning && gathering == nil { closeProgress() }
      }
    }
  }

  private func closeProgress() {
    if case .shown(let id, _) = progress { call("CloseNotification", [.uint32(id)]) { _ in } }
    progress = .none
  }

  private func showEnded() {
    // Complete downloads wait for the rest of the batch: their notification replaces the progress.
    let due = events.filter { !isRunning || $0.error != nil }
    events.removeAll { !isRunning || $0.error != nil }
    let (complete, failed) = (due.filter { $0.error == nil }, due.filter { $0.error != nil })
    for content in [.complete(complete), .failed(failed, folder: folder)] as [NotificationContent?] {
      guard let content else { continue }
      var place: UInt32 = 0
      if !isRunning, case .shown(let id, _) = progress { (place, progress) = (id, .none) }
      notify(content, replacing: place) { [self] in shown[$0] = content }
    }
    if !isRunning { closeProgress() }
  }

  private func notify(
    _ content: NotificationContent, replacing id: UInt32 = 0, done: @escaping (UInt32) -> Void
  ) {
    call("Notify", content.arguments(replacing: id)) { answer in
      if let id = answer.first?.integer { done(UInt32(truncatingIfNeeded: id)) }
    }
  }

  // MARK: The bus

  private func call(_ member: String, _ arguments: [BusValue], answered: @escaping ([BusValue]) -> Void) {
    guard let bus = connected() else { return }
    let service = NotificationContent.service
    bus.call(service, NotificationContent.path, service, member, arguments) { [self] answer in
      switch answer {
      case .success(let values): answered(values)
      case .failure(let error): log.write("cannot show a notification: \(error)")
      }
    }
  }

  private func connected() -> Bus? {
    if let bus { return bus }
    do {
      let bus = try Bus(.session, loop: loop) { [self] in
        self.bus = nil
        forget()
      }
      let service = NotificationContent.service
      bus.match("type='signal',interface='\(service)',member='ActionInvoked'") { [self] in act(on: $0) }
      bus.match("type='signal',interface='\(service)',member='NotificationClosed'") { [self] in closed($0) }
      // Its notifications have gone with it.
      bus.match("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'") {
        [self] _ in forget()
      }
      self.bus = bus
      return bus
    } catch {
      log.write("cannot show a notification: \(error)")
      return nil
    }
  }

  private func forget() { (shown, progress) = ([:], .none) }

  private func closed(_ signal: Bus.Signal) {
    guard let id = signal.values.first?.integer.map({ UInt32(truncatingIfNeeded: $0) }) else { return }
    shown[id] = nil
    // 2: by the user.
    if case .shown(id, _) = progress { progress = signal.values.last?.integer == 2 ? .dismissed : .none }
  }

  private func act(on signal: Bus.Signal) {
    guard let id = signal.values.first?.integer, let content = shown[UInt32(truncatingIfNeeded: id)] else {
      return
    }
    if signal.values.last?.text == "play", let path = content.playable { return open(path) }
    guard let path = content.shown, let bus else { return }
    if path == folder { return open(path) }
    let address = "file://" + PercentEncoding.path(path)
    bus.call(
      "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1", "org.freedesktop.FileManager1",
      "ShowItems",
      [.array("s", [.string(address)]), .string("")]
    ) { [self] answer in
      if case .failure = answer { open(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])) }
    }
  }

  private func open(_ path: String) {
    let log = log
    _ = PosixThread.attempt("open") { CompletionNotice.run("xdg-open", "xdg-open", [path], nil, log) }
  }
}

extension TransferStatus {
  /// How much of it is in the cache, from 0 to 1, as far as that is known.
  fileprivate var fraction: Double {
    if state == .cached { return 1 }
    return total.map { min(Double(received) / Double(max($0, 1)), 1) } ?? 0
  }
}
