internal import Configuration
internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// Finds the daemon, and starts it. Belongs to the session's loop.
final class DaemonLauncher {
  /// A daemon that this process has started.
  private final class Child {
    let process: Int32
    /// Readable when it has ended.
    let ending: Int32?
    /// What it writes to its standard error: a file in memory (a pipe that nobody reads would hold it up).
    private let errors: Int32?

    init(process: Int32, errors: Int32?) {
      self.process = process
      self.errors = errors
      ending = ChildProcess.watch(process)?.release()
    }

    deinit { for number in [ending, errors] { if let number { close(number) } } }

    /// The last line that it has written.
    var lastWords: String? {
      guard let errors else { return nil }
      let size = lseek(errors, 0, Int32(SEEK_END))
      var bytes = [UInt8](repeating: 0, count: Int(min(max(size, 0), 4096)))
      let start = Int64(size) - Int64(bytes.count)
      let count = bytes.withUnsafeMutableBytes { try? preadFully(errors, into: $0, at: start) }
      guard count == bytes.count, let line = bytes.split(separator: 10).last else { return nil }
      let text = String(decoding: line, as: UTF8.self)
      let prefix = "podcastfs-transferd: "
      return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
  }

  private let places: Places
  private let program: String?
  private let loop: EventLoop
  private var children: [Child] = []
  private var nextLaunch = MonotonicTime(nanoseconds: 0)
  private var delay = 0.25
  /// Hears why a daemon could not begin.
  var failed: (TransferFailure) -> Void = { _ in }

  init(places: Places, program: String?, loop: EventLoop) {
    self.places = places
    self.program = program
    self.loop = loop
  }

  /// A connection to the daemon that runs; nil where none does.
  func connect() -> FileDescriptor? { DaemonPlace.connect(in: places.state) }

  /// A connection to a socket that the service manager listens on for the daemon, which it then starts.
  func activate() -> FileDescriptor? {
    DaemonPlace.connect(toOwn: DaemonPlace.socket(runtime: places.runtime))
  }

  /// Starts one, unless that has just been done: a daemon that dies at once is started ever more seldom.
  func launchIfDue() {
    reap()
    let now = MonotonicTime.now
    guard now >= nextLaunch else { return }
    let longAgo = now.seconds(since: nextLaunch) > 30
    delay = longAgo ? 0.25 : min(delay * 2, 10)
    nextLaunch = now.adding(delay)
    guard let path = program ?? ChildProcess.find("podcastfs-transferd") else {
      return failed(TransferFailure(.EIO, "podcastfs-transferd is neither beside podcastfs nor in PATH"))
    }
    let arguments = ["--state", places.state, "--cache", places.cache, "--runtime", places.runtime]
    let errors = (try? FileDescriptor.inMemory("transferd"))?.release()
    do throws(PosixError) {
      let process = try ChildProcess.start(path, arguments, files: [nil, nil, errors])
      watch(Child(process: process, errors: errors))
    } catch {
      if let errors { close(errors) }
      failed(TransferFailure(.EIO, "\(error)"))
    }
  }

  private func watch(_ child: Child) {
    children.append(child)
    guard let ending = child.ending else { return }
    loop.watch(ending, .readable) { [weak self] _ in self?.reap() }
  }

  /// A daemon that had begun well has died: the next one is started at once.
  func forgive() {
    delay = 0.25
    nextLaunch = .now
  }

  /// Lets daemons that have ended go.
  func reap() {
    var failures: [TransferFailure] = []
    children.removeAll { child in
      guard let status = ChildProcess.reap(child.process) else { return false }
      if let ending = child.ending { loop.unwatch(ending) }
      // Killed ones are started again; one that gives up by itself would do so again.
      if (1..<128).contains(status) {
        let why = child.lastWords ?? "podcastfs-transferd ended with status \(status)"
        failures.append(TransferFailure(status == DaemonPlace.noRoomStatus ? .ENOSPC : .EIO, why))
      }
      return true
    }
    for failure in failures { failed(failure) }
  }

  /// Nobody looks any more.
  func stop() {
    for child in children { if let ending = child.ending { loop.unwatch(ending) } }
    children = []
  }
}
