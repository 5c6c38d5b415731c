internal import Catalog
internal import Configuration
internal import Glibc
internal import HTTPKit
internal import PosixKit
internal import Sync

/// Synchronizes by itself: when it is time, a little after a change here, and when the network returns. Without a [sync]
/// section its thread does not run.
final class SyncSchedule: Sendable {
  private struct State: ~Copyable {
    var isRunning = false
    var isStopped = false
    /// Something has changed here that the server may not have.
    var hasChanged = false
  }

  private let catalog: Catalog
  private let request: MountRequest
  private let http: HTTPClient
  private let state = Monitor(State())
  private let wakeup = try? WakeupEvent()

  /// Seconds after a change here: more often follow.
  private static let afterChange = 20.0
  /// Seconds after the start, and after the network has changed.
  private static let beginning = 5.0

  init(catalog: Catalog, request: MountRequest, http: HTTPClient) {
    self.catalog = catalog
    self.request = request
    self.http = http
  }

  func start() {
    catalog.observeChanges { [self] change in
      switch change {
      case .episode, .subscription, .subscriptions, .everything: changed()
      // By whichever process: there may be another configuration now.
      case .synchronized: begin()
      default: break
      }
    }
    if request.settings.sync != nil { begin() }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    wakeup?.signal()
  }

  private func changed() {
    let wakes = state.withLock { state in
      defer { state.hasChanged = true }
      return state.isRunning && !state.hasChanged
    }
    if wakes { wakeup?.signal() }
  }

  private func begin() {
    let isFirst = state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning && !state.isStopped
    }
    guard isFirst, let wakeup else { return }
    if !PosixThread.attempt("sync", stackSize: 1 << 20, { [self] in run(wakeup) }) {
      state.withLock { $0.isRunning = false }
    }
  }

  /// Ends where the configuration has no such section any more.
  private func run(_ wakeup: WakeupEvent) {
    let timer = try? WakeTimer()
    let network = try? NetworkWatch()
    var next = MonotonicTime.after(Self.beginning)
    var mustRun = true
    while !state.withLock({ $0.isStopped }) {
      if next <= .now {
        guard let sync = currentSettings else { break }
        // Another mount may have done it a moment ago.
        let age = (try? catalog.syncAccount()?.last).flatMap { $0 }.map { wallClockSeconds() - $0 } ?? .max
        let hasChanged = state.withLock { state in
          defer { state.hasChanged = false }
          return state.hasChanged
        }
        if mustRun || age < 0 || age >= Int64(sync.every) || hasChanged && isPending(sync) {
          synchronize(sync)
          mustRun = false
          next = .after(Double(sync.every))
        } else {
          next = .after(Double(max(Int64(sync.every) - age, 1)))
        }
      }
      timer?.set(after: max(next.seconds(since: .now), 0.001))
      var polled = [
        pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: timer?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: network?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      // Without a timer (no descriptors left) it looks now and then.
      poll(&polled, 3, timer == nil ? 60_000 : -1)
      wakeup.drain()
      timer?.drain()
      if polled[2].revents != 0, network?.hasChanged() == true {
        mustRun = true
        next = min(next, .after(Self.beginning))
      }
      if state.withLock({ $0.hasChanged }) { next = min(next, .after(Self.afterChange)) }
    }
    state.withLock { $0.isRunning = false }
  }

  /// Read again each time: the user may have corrected refused credentials.
  private var currentSettings: SyncSettings? {
    let file = request.places.configurationFile
    guard let loaded = try? Settings.load(file: file, environment: [:]) else { return request.settings.sync }
    return loaded.settings.sync
  }

  private func isPending(_ sync: SyncSettings) -> Bool {
    ((try? SyncStatus.pending(catalog, uploadsAll: sync.feeds == .all)) ?? 0) > 0
  }

  private func synchronize(_ sync: SyncSettings) {
    let run = SyncRun(
      catalog: catalog, places: request.places, settings: request.settings, sync: sync, http: http,
      now: { wallClockSeconds() })
    let before = (try? catalog.syncAccount())??.error
    do { _ = try run.run(.automatic) } catch {
      // The same once, not every quarter of an hour.
      if "\(error)" != before { request.log.write("cannot synchronize: \(error)") }
    }
  }
}
