internal import BusKit
internal import Configuration
internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// Desktop notifications of downloads (Desktop Notifications Specification): one that shows the progress of those that
/// run, and one for those that have ended close together. Its thread starts with the first one.
package final class Notifications: Sendable {
  struct Event: Sendable {
    var title: String
    var show: String
    /// Where it is, below `Downloaded/`; nil for one that failed.
    var path: String?
    /// A picture's file.
    var cover: String?
    var error: String?
  }

  private let mountPoint: String
  private let log: LogFile
  private let session = Monitor<NotificationSession?>(nil)

  init(mountPoint: String, log: LogFile) { (self.mountPoint, self.log) = (mountPoint, log) }

  /// Whether there is a session to show them in.
  package static var isPossible: Bool {
    let environment = Places.processEnvironment
    if let bus = environment["DBUS_SESSION_BUS_ADDRESS"], !bus.isEmpty { return true }
    return Places.runtimeDirectory(environment).map { access($0 + "/bus", F_OK) == 0 } ?? false
  }

  func add(_ event: Event) { perform { $0.ended(event) } }

  /// A download has changed that runs, or was seen to run.
  func progress(_ status: TransferStatus) { perform { $0.progressed(status) } }

  private func perform(_ body: @escaping @Sendable (NotificationSession) -> Void) {
    let session = session.withLock { session in
      if session == nil, let loop = try? EventLoop(),
        PosixThread.attempt("notify", stackSize: 256 * 1024, { loop.run() })
      {
        session = NotificationSession(loop, folder: mountPoint + "/Downloading/Failed", log: log)
      }
      return session
    }
    if let session { session.loop.async { body(session) } }
  }

  /// Shows one, and waits until it is shown, for a few seconds at most.
  package static func show(_ summary: String, _ body: String) {
    guard isPossible, let loop = try? EventLoop(), let bus = try? Bus(.session, loop: loop, ended: loop.stop)
    else { return }
    let content = NotificationContent(summary: summary, lines: [body])
    bus.call(
      NotificationContent.service, NotificationContent.path, NotificationContent.service, "Notify",
      content.arguments(replacing: 0)
    ) { _ in loop.stop() }
    loop.schedule(at: .after(5)) { loop.stop() }
    loop.run()
  }
}
