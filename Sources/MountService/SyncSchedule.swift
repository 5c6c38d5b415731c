internal import Catalog
internal import Configuration
internal import Glibc
internal import HTTPKit
internal import PosixKit
internal import Sync

/// Synchronizes by itself, when its timetable says so. Without a [sync] section its thread does not run.
final class SyncSchedule: Sendable {
  private struct State: ~Copyable {
    /// When to synchronize next; nil while the thread that synchronizes is not running.
    var timetable: SyncTimetable?
    var isStopped = false
  }

  private let catalog: Catalog
  private let request: MountRequest
  private let http: HTTPClient
  private let state = Monitor(State())
  private let wakeup = try? WakeupEvent()

  init(catalog: Catalog, request: MountRequest, http: HTTPClient) {
    (self.catalog, self.request, self.http) = (catalog, request, http)
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
      let before = state.timetable?.next
      state.timetable?.changed(now: .now)
      return state.timetable?.next != before
    }
    if wakes { wakeup?.signal() }
  }

  private func begin() {
    let isFirst = state.withLock { state in
      if state.timetable != nil || state.isStopped { return false }
      state.timetable = SyncTimetable(now: .now)
      return true
    }
    guard isFirst, let wakeup else { return }
    if !PosixThread.attempt("sync", stackSize: 1 << 20, { [self] in run(wakeup) }) {
      state.withLock { $0.timetable = nil }
    }
  }

  /// Ends where the configuration has no such section any more.
  private func run(_ wakeup: WakeupEvent) {
    let network = try? NetworkWatch()
    while let next = state.withLock({ $0.isStopped ? nil : $0.timetable?.next }) {
      if next <= .now {
        guard let sync = currentSettings else { break }
        if isDue(sync) { synchronize(sync) }
        continue
      }
      var polled = [wakeup.descriptor, network?.descriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      poll(&polled, 2, next.pollTimeout)
      wakeup.drain()
      if polled[1].revents != 0, network?.hasChanged() == true {
        state.withLock { $0.timetable?.networkChanged(now: .now) }
      }
    }
    state.withLock { $0.timetable = nil }
  }

  private func isDue(_ sync: SyncSettings) -> Bool {
    // Another mount may have done it a moment ago.
    let age = (try? catalog.syncAccount()?.last).flatMap { $0 }.map { wallClockSeconds() - $0 }
    let isPending = ((try? SyncStatus.pending(catalog, uploadsAll: sync.feeds == .all)) ?? 0) > 0
    let wait = run(sync).wait
    return state.withLock {
      $0.timetable?.isDue(now: .now, every: sync.every, age: age, isPending: isPending, wait: wait) ?? false
    }
  }

  /// Read again each time: the user may have corrected refused credentials.
  private var currentSettings: SyncSettings? {
    let file = request.places.configurationFile
    guard let loaded = try? Settings.load(file: file, environment: [:]) else { return request.settings.sync }
    return loaded.settings.sync
  }

  private func run(_ sync: SyncSettings) -> SyncRun {
    SyncRun(
      catalog: catalog, places: request.places, settings: request.settings, sync: sync, http: http,
      now: { wallClockSeconds() })
  }

  private func synchronize(_ sync: SyncSettings) {
    let run = run(sync)
    defer { state.withLock { $0.timetable?.ended(now: .now, wait: run.wait) } }
    let before = (try? catalog.syncAccount())??.error
    do { _ = try run.run(.automatic) } catch {
      // The same once, not every quarter of an hour.
      if "\(error)" != before { request.log.write("cannot synchronize: \(error)") }
    }
  }
}
