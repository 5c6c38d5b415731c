internal import PosixKit

/// A loop with a session, on a thread of its own. The session is made and used by the loop's thread only: that makes
/// it Sendable.
final class HTTPWorker: @unchecked Sendable {
  private let loop: EventLoop
  private var session: HTTPSession?

  init() {
    do throws(PosixError) { loop = try EventLoop() } catch { preconditionFailure("\(error)") }
  }

  /// - Returns: false where the thread has ended.
  @discardableResult
  func perform(_ body: @escaping @Sendable (HTTPSession) -> Void) -> Bool {
    loop.async { if let session = self.session { body(session) } }
  }

  func run() {
    HTTPSession.blockBrokenPipeSignal()
    session = HTTPSession(loop: loop)
    loop.run()
    session?.stop()
    session = nil
  }

  func stop() {
    perform { $0.stop() }
    loop.stop()
  }
}
