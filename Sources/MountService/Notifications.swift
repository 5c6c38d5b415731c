internal import Configuration
internal import Glibc
internal import PosixKit

/// Desktop notifications of downloads: those that come close together are one.
package final class Notifications: Sendable {
  /// A download that has ended.
  struct Event: Sendable {
    var title: String
    var show: String
    /// The podcast's in `Downloaded/`, where its cover may be.
    var directory = ""
    /// nil for one that is complete.
    var error: String?
  }

  private let mountPoint: String
  private let log: LogFile
  private let pending = Monitor<[Event]>([])

  /// Seconds without a further one after which they are told, and from the first one at the most.
  private static let (quiet, longest) = (2.0, 15.0)

  init(mountPoint: String, log: LogFile) {
    self.mountPoint = mountPoint
    self.log = log
  }

  /// notify-send(1), where there is one and a session to show it in.
  package static var program: String? {
    guard let bus = Places.processEnvironment["DBUS_SESSION_BUS_ADDRESS"], !bus.isEmpty else { return nil }
    return ChildProcess.find("notify-send")
  }

  func add(_ event: Event) {
    let isFirst = pending.withLockNotifying { pending in
      pending.append(event)
      return pending.count == 1
    }
    // The thread is there only while something is to be told.
    if isFirst && !PosixThread.attempt("notify", stackSize: 256 * 1024, { [self] in gather() }) { tell() }
  }

  private func gather() {
    // It looks at a cover in its own mount, which the next process may have to answer.
    PosixThread.leaveDescriptors()
    let last = MonotonicTime.after(Self.longest)
    var count = 0
    while true {
      let seen = count
      let more = pending.wait(until: min(.after(Self.quiet), last)) { $0.count > seen ? $0.count : nil }
      guard let more, .now < last else { break }
      count = more
    }
    tell()
  }

  private func tell() {
    let events = pending.withLock { pending in
      let events = pending
      pending = []
      return events
    }
    let complete = events.filter { $0.error == nil }
    let failed = events.filter { $0.error != nil }
    if !complete.isEmpty { show(NotificationText.complete(complete), icon: cover(of: complete)) }
    if !failed.isEmpty { show(NotificationText.failed(failed), icon: "dialog-warning") }
  }

  private func show(_ text: NotificationText, icon: String?) {
    guard let program = Self.program else { return }
    let arguments =
      ["--app-name=podcastfs"] + (icon.map { ["--icon=\($0)"] } ?? []) + ["--", text.summary, text.body]
    do {
      let status = try ChildProcess.wait(ChildProcess.start(program, arguments))
      if status != 0 { log.write("notify-send ended with status \(status)") }
    } catch {
      log.write("cannot run notify-send: \(error)")
    }
  }

  /// The cover of the one podcast that they are of, where it is here: nothing is fetched for it.
  private func cover(of events: [Event]) -> String? {
    guard let directory = events.first?.directory, events.allSatisfy({ $0.directory == directory }) else {
      return nil
    }
    return ["jpg", "png", "webp"].map { "\(mountPoint)/Downloaded/\(directory)/cover.\($0)" }.first {
      access($0, R_OK) == 0
    }
  }
}
