internal import BusKit
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import WebValues

/// Desktop notifications of downloads (Desktop Notifications Specification): one shows the progress of those that run, and
/// is replaced when they have ended. All but `perform` belongs to its loop's thread, which makes it Sendable. That thread
/// starts with the first notification.
package final class Notifications: @unchecked Sendable {
  /// A download that is complete or has failed, as a notification shows it.
  struct Event: Sendable {
    var title: String
    var show: String
    /// Where it is, below `Downloaded/`; nil for one that failed.
    var path: String?
    /// A picture's file.
    var cover: String?
    var error: String?
  }

  /// The folder that "Show" opens for a failure.
  private let folder: String
  private let log: LogFile
  private let runningLoop = Monitor<EventLoop?>(nil)
  private var bus: Bus?
  private var timer: EventLoop.Timer?
  /// What has ended and is not shown yet.
  private var events: [Event] = []
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

  init(mountPoint: String, log: LogFile) { (folder, self.log) = (mountPoint + "/Downloading/Failed", log) }

  /// Whether there is a session to show them in.
  package static var isPossible: Bool {
    let environment = Places.processEnvironment
    if let bus = environment["DBUS_SESSION_BUS_ADDRESS"], !bus.isEmpty { return true }
    return Places.runtimeDirectory(environment).map { access($0 + "/bus", F_OK) == 0 } ?? false
  }

  private func perform(_ body: @escaping @Sendable (EventLoop) -> Void) {
    let loop = runningLoop.withLock { running in
      if running == nil, let loop = try? EventLoop(),
        PosixThread.attempt("notify", stackSize: 256 * 1024, { loop.run() })
      {
        running = loop
      }
      return running
    }
    if let loop { loop.async { body(loop) } }
  }

  func add(_ event: Event) {
    perform { [self] loop in
      events.append(event)
      update(after: Self.quiet, loop)
    }
  }

  /// A download has changed that runs, or was seen to run.
  func changed(_ status: TransferStatus) {
    perform { [self] loop in
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
  }

  private var isRunning: Bool { batch.values.contains { $0.state != .cached } }

  private func update(after seconds: Double, _ loop: EventLoop) {
    if timer != nil { return }
    timer = loop.schedule(at: .after(seconds)) { [self] in
      timer = nil
      showFailures(loop)
      if isRunning { showProgress(loop) } else { showEnd(loop) }
    }
  }

  private func showFailures(_ loop: EventLoop) {
    let content = NotificationContent.failed(events.filter { $0.error != nil }, folder: folder)
    events.removeAll { $0.error != nil }
    if let content { notify(content, loop) { [self] in shown[$0] = content } }
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
      return notify(content, replacing: id, loop) { _ in }
    }
    notify(content, loop) { [self] id in
      // All may have ended meanwhile.
      if isRunning { progress = .shown(id, content) } else { close(id, loop) }
    }
  }

  /// What has ended replaces the progress.
  private func showEnd(_ loop: EventLoop) {
    var place: UInt32 = 0
    if case .shown(let id, _) = progress { place = id }
    (progress, batch) = (.none, [:])
    if let content = NotificationContent.complete(events) {
      notify(content, replacing: place, loop) { [self] in shown[$0] = content }
    } else if place != 0 {
      close(place, loop)
    }
    events = []
  }

  private func notify(
    _ content: NotificationContent, replacing id: UInt32 = 0, _ loop: EventLoop,
    done: @escaping (UInt32) -> Void
  ) {
    call("Notify", content.arguments(replacing: id), loop) { answer in
      if let id = answer.first?.integer { done(UInt32(truncatingIfNeeded: id)) }
    }
  }

  private func close(_ id: UInt32, _ loop: EventLoop) {
    call("CloseNotification", [.uint32(id)], loop) { _ in }
  }

  private func call(
    _ member: String, _ arguments: [BusValue], _ loop: EventLoop, answered: @escaping ([BusValue]) -> Void
  ) {
    do {
      let service = NotificationContent.service
      try connected(loop).call(service, NotificationContent.path, service, member, arguments) {
        [self] answer in
        switch answer {
        case .success(let values): answered(values)
        case .failure(let error): log.write("cannot show a notification: \(error)")
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
    let service = NotificationContent.service
    bus.match("type='signal',interface='\(service)',member='ActionInvoked'") { [self] in act(on: $0) }
    bus.match("type='signal',interface='\(service)',member='NotificationClosed'") { [self] in closed($0) }
    self.bus = bus
    return bus
  }

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
    if let path = signal.values.last?.text == "play" ? content.playable : content.folder { open(path) }
  }

  private func open(_ path: String) {
    let log = log
    _ = PosixThread.attempt("open") { CompletionNotice.run("xdg-open", "xdg-open", [path], nil, log) }
  }

  /// Shows one, and waits until it is shown, for a few seconds at most.
  package static func show(_ summary: String, _ body: String) {
    guard isPossible, let loop = try? EventLoop(), let bus = try? Bus(.session, loop: loop, ended: loop.stop)
    else { return }
    let (service, content) = (
      NotificationContent.service, NotificationContent(summary: summary, lines: [body])
    )
    bus.call(service, NotificationContent.path, service, "Notify", content.arguments(replacing: 0)) { _ in
      loop.stop()
    }
    loop.schedule(at: .after(5)) { loop.stop() }
    loop.run()
  }
}

extension TransferStatus {
  /// How much of it is in the cache, from 0 to 1, as far as that is known.
  fileprivate var fraction: Double {
    if state == .cached { return 1 }
    return total.map { min(Double(received) / Double(max($0, 1)), 1) } ?? 0
  }
}
