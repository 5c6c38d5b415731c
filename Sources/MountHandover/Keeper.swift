internal import Glibc
internal import PosixKit

/// The supervisor beside a mount's own process: it keeps the connection to the kernel, and starts the next process when
/// the one that serves has gone.
///
/// It is a program of its own, podcastfs-keep, small and idle. Where it is killed itself, another one is started: only both
/// at once end the mount.
package final class Keeper: Sendable {
  private struct State: ~Copyable {
    var socket: FileDescriptor?
    /// Where this process has started it.
    var process: Int32?
    var isDismissed = false
  }
  private let state: Monitor<State>
  private let connection: Int32
  private let memory: HandoverMemory
  private let call: MountCall
  private let log: @Sendable (_ why: String) -> Void

  /// Beside podcastfs, or where installations put what nobody calls by name.
  package static var program: String? {
    ChildProcess.find("podcastfs-keep") ?? ChildProcess.find("../libexec/podcastfs/podcastfs-keep")
  }

  /// - Parameters:
  ///   - inherited: this process's end of the socket to the keeper that has started it; nil where there is none.
  ///   - log: hears why nobody keeps the mount.
  package init(
    connection: Int32, memory: HandoverMemory, call: MountCall, inherited: Int32? = nil,
    log: @escaping @Sendable (_ why: String) -> Void
  ) {
    self.connection = connection
    self.memory = memory
    self.call = call
    self.log = log
    state = Monitor(State(socket: inherited.map { FileDescriptor(owning: $0) }))
  }

  /// Whether the one that has started this process runs another file than is installed: of a version before.
  private static var isOfOtherVersion: Bool {
    let path = "/proc/\(getppid())/exe"
    var (its, installed) = (stat(), stat())
    guard let program, Directories.linkTarget(path)?.contains("/podcastfs-keep") ?? false,
      stat(path, &its) == 0, stat(program, &installed) == 0
    else { return false }
    return its.st_dev != installed.st_dev || its.st_ino != installed.st_ino
  }

  /// Starts one where none of this version is there, and looks after it from now on.
  package func begin() {
    let inherited = state.withLock { $0.socket?.rawValue }
    if let inherited, Self.isOfOtherVersion {
      _ = send([UInt8(ascii: "E")], to: inherited)
      state.withLock { $0.socket = nil }
    } else if let inherited {
      _ = send([UInt8(ascii: "B")], to: inherited)
    }
    if state.withLock({ $0.socket == nil }) { start() }
    _ = PosixThread.attempt("keeper", stackSize: 64 * 1024) { [self] in watch() }
  }

  private func start() {
    guard let program = Self.program else { return log("podcastfs-keep is not installed") }
    do {
      let ends = try UnixSocket.pair()
      // Before it is there: from then on this process may die.
      guard say("N", to: ends.first.rawValue) else {
        return log("podcastfs-keep cannot be told what to start")
      }
      let process = try ChildProcess.start(
        program, name: "podcastfs-keep", [],
        files: [nil, nil, nil, connection, memory.file.rawValue, ends.second.rawValue])
      let socket = ends.takeFirst().release()
      state.withLock { state in
        state.socket = FileDescriptor(owning: socket)
        state.process = process
      }
    } catch {
      log("\(error)")
    }
  }

  /// Seconds until the next one is started: after one that has not lasted for as long, and where none could begin.
  private static let (pause, longPause) = (1.0, 60.0)

  /// Follows one with another, as long as the mount is there.
  private func watch() {
    while true {
      let begun = MonotonicTime.now
      let socket = state.withLock { $0.socket?.rawValue }
      if let socket {
        waitForHangUp(socket)
        let process = state.withLock { state in
          state.socket = nil
          defer { state.process = nil }
          return state.process
        }
        if let process { _ = try? ChildProcess.wait(process) }
      }
      let isShort = MonotonicTime.now.seconds(since: begun) < Self.pause
      let pause = socket == nil ? Self.longPause : isShort ? Self.pause : 0
      let isDismissed = state.wait(until: .after(pause)) { $0.isDismissed ? true : nil } ?? false
      if isDismissed { return }
      start()
    }
  }

  private func waitForHangUp(_ socket: Int32) {
    while true {
      var byte: UInt8 = 0
      let received = recv(socket, &byte, 1, 0)
      if received == 0 || received < 0 && errno != EINTR { return }
    }
  }

  // MARK: What it is told

  /// The mount has ended.
  package func dismiss() {
    let socket = state.withLockNotifying { state in
      state.isDismissed = true
      return state.socket?.rawValue
    }
    if let socket { _ = send([UInt8(ascii: "E")], to: socket) }
  }

  /// This process is about to go, and `call` takes over.
  /// - Returns: whether the keeper has been told.
  package func handOver(to call: MountCall) -> Bool {
    guard let socket = state.withLock({ $0.socket?.rawValue }) else { return false }
    return say("C", call, to: socket)
  }

  private func say(_ letter: Unicode.Scalar, _ call: MountCall? = nil, to socket: Int32) -> Bool {
    var call = call ?? self.call
    if call.message == nil { call.environment = [] }
    guard let message = call.message else { return false }
    return send([UInt8(ascii: letter)] + message, to: socket)
  }

  private func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
    bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } >= 0
  }
}
