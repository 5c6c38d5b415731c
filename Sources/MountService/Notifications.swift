internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit

/// Desktop notifications of downloads that have ended: those that come close together are one.
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

  /// Seconds without a further one after which they are shown, and from the first one at the most.
  private static let (quiet, longest) = (2.0, 15.0)
  private static let shownLines = 4

  init(mountPoint: String, log: LogFile) { (self.mountPoint, self.log) = (mountPoint, log) }

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
    // The thread is there only while something is to be shown.
    if isFirst && !PosixThread.attempt("notify", stackSize: 256 * 1024, { [self] in gather() }) { showAll() }
  }

  private func gather() {
    // It looks at a cover in its own mount, which the next process may have to answer.
    PosixThread.leaveDescriptors()
    let last = MonotonicTime.after(Self.longest)
    var count = 0
    while let more = pending.wait(
      until: min(.after(Self.quiet), last), for: { $0.count > count ? $0.count : nil }),
      .now < last
    {
      count = more
    }
    showAll()
  }

  private func showAll() {
    let events = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    showComplete(events.filter { $0.error == nil })
    showFailed(events.filter { $0.error != nil })
  }

  private func showComplete(_ events: [Event]) {
    guard let first = events.first else { return }
    let shows = distinct(events.map(\.show))
    let covers = ["jpg", "png", "webp"].map { "\(mountPoint)/Downloaded/\(first.directory)/cover.\($0)" }
    let isOfOne = events.allSatisfy { $0.directory == first.directory }
    // Nothing is fetched for it.
    let cover = isOfOne ? covers.first { access($0, R_OK) == 0 } : nil
    if events.count == 1 { return show(first.title, [first.show], icon: cover) }
    show(
      "\(events.count) episodes\(shows.count == 1 ? " of \(shows[0])" : "") downloaded",
      shows.count == 1 ? events.map(\.title) : shows, icon: cover)
  }

  private func showFailed(_ events: [Event]) {
    guard let first = events.first else { return }
    let one = "\(first.title) could not be downloaded"
    let several = "\(events.count) episodes could not be downloaded"
    show(
      events.count == 1 ? one : several,
      events.count == 1 ? ["\(first.show): \(first.error ?? "")"] : distinct(events.compactMap(\.error)),
      icon: "dialog-warning")
  }

  private func distinct(_ texts: [String]) -> [String] {
    texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// - Parameter lines: may hold markup by the Desktop Notifications Specification; the summary may not.
  private func show(_ summary: String, _ lines: [String], icon: String?) {
    guard let program = Self.program else { return }
    let shown = lines.prefix(Self.shownLines).map { XMLText.escaped(PrintableText.line($0)) }
    let body = (shown + (lines.count > shown.count ? ["…"] : [])).joined(separator: "\n")
    let arguments = ["--app-name=podcastfs"] + (icon.map { ["--icon=\($0)"] } ?? [])
    Self.run("notify-send", program, arguments + ["--", PrintableText.line(summary), body], nil, log)
  }

  /// Runs a program and waits for its end.
  static func run(
    _ name: String, _ path: String, _ arguments: [String], _ environment: [String: String]?, _ log: LogFile
  ) {
    do {
      let status = try ChildProcess.wait(ChildProcess.start(path, arguments, environment: environment))
      if status != 0 { log.write("\(name) ended with status \(status)") }
    } catch {
      log.write("cannot run \(name): \(error)")
    }
  }
}
