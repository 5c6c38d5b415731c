internal import Configuration
internal import PosixKit
internal import TransferProtocol

/// Finds the daemon, and starts it. Belongs to the session's loop.
final class DaemonLauncher {
  private let places: Places
  private let program: String?
  private var children: [Int32] = []
  private var nextLaunch = MonotonicTime(nanoseconds: 0)
  private var delay = 0.25

  init(places: Places, program: String?) {
    self.places = places
    self.program = program
  }

  /// A connection to the daemon that runs; nil where none does.
  func connect() -> FileDescriptor? {
    guard let socket = DaemonPlace.socket(in: places.state) else { return nil }
    do throws(PosixError) { return try UnixSocket.connect(to: socket) } catch { return nil }
  }

  /// A connection to a socket that the service manager listens on for the daemon, which it then starts.
  func activate() -> FileDescriptor? {
    do throws(PosixError) {
      return try UnixSocket.connect(to: DaemonPlace.socket(runtime: places.runtime))
    } catch {
      return nil
    }
  }

  /// Starts one, unless that has just been done: a daemon that dies at once is started ever more seldom.
  func launchIfDue() {
    reap()
    let now = MonotonicTime.now
    guard now >= nextLaunch else { return }
    let longAgo = now.seconds(since: nextLaunch) > 30
    delay = longAgo ? 0.25 : min(delay * 2, 10)
    nextLaunch = now.adding(delay)
    guard let path = program ?? DetachedProcess.find("podcastfs-transferd") else { return }
    let arguments = ["--state", places.state, "--cache", places.cache, "--runtime", places.runtime]
    if let child = try? DetachedProcess.start(path, arguments) { children.append(child) }
  }

  /// A daemon that had begun well has died: the next one is started at once.
  func forgive() {
    delay = 0.25
    nextLaunch = .now
  }

  /// Lets daemons that have ended go.
  func reap() { children.removeAll { DetachedProcess.reap($0) } }
}
