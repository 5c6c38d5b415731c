internal import Glibc
internal import PosixKit

/// The process beside a mount's own that keeps the connection to the kernel, and starts the next one when that has gone.
///
/// It is a program of its own, podcastfs-keep, small and without work. Where it is killed itself, another one is started:
/// only both at once end the mount.
final class Keeper: Sendable {
  private struct State: ~Copyable {
    var socket: FileDescriptor?
    /// Where this process has started it.
    var process: Int32?
    var isDismissed = false
    /// When the last ones were started.
    var starts: [MonotonicTime] = []
  }
  private let state: Monitor<State>
  private let connection: Int32
  private let memory: LastingMemory
  private let call: MountCall
  private let log: LogFile

  /// Beside podcastfs, or where installations put what nobody calls by name.
  static var program: String? {
    DetachedProcess.find("podcastfs-keep") ?? DetachedProcess.find("../libexec/podcastfs/podcastfs-keep")
  }

  /// - Parameter inherited: this process's end of the socket to the keeper that has started it; nil where there is none.
  init(
    connection: Int32, memory: LastingMemory, call: MountCall, log: LogFile, inherited: Int32? = nil
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
  func begin() {
    let inherited = state.withLock { $0.socket?.rawValue }
    if let inherited, Self.isOfOtherVersion {
      _ = send([UInt8(ascii: "E")], to: inherited)
      state.withLock { $0.socket = nil }
      if !start() { return }
    } else if let inherited {
      _ = send([UInt8(ascii: "B")], to: inherited)
    } else if !start() {
      return
    }
    _ = PosixThread.attempt("keeper", stackSize: 64 * 1024) { [self] in watch() }
  }

  private func start() -> Bool {
    guard let program = Self.program else {
      log.write("podcastfs-keep is not installed: the mount ends with its process")
      return false
    }
    do {
      let ends = try UnixSocket.pair()
      let process = try DetachedProcess.startHolding(
        program, connection, memory.file.rawValue, ends.second.rawValue)
      let socket = ends.takeFirst().release()
      state.withLock { state in
        state.socket = FileDescriptor(owning: socket)
        state.process = process
        state.starts.append(.now)
        if state.starts.count > 3 { state.starts.removeFirst() }
      }
      return say("N", to: socket)
    } catch {
      log.write("the mount ends with its process: \(error)")
      return false
    }
  }

  /// Waits for its end.
  private func watch() {
    while true {
      guard let socket = state.withLock({ $0.socket?.rawValue }) else { return }
      var byte: UInt8 = 0
      let count = recv(socket, &byte, 1, 0)
      if count > 0 || count < 0 && errno == EINTR { continue }
      let (isWanted, ended) = state.withLock { state in
        state.socket = nil
        let ended = state.process
        state.process = nil
        let isOften = state.starts.count == 3 && state.starts[0] > .after(-60)
        return (!state.isDismissed && !isOften, ended)
      }
      if let ended { _ = try? DetachedProcess.wait(ended) }
      if !isWanted || !start() { return }
    }
  }

  // MARK: What it is told

  /// The mount has ended.
  func dismiss() {
    let socket = state.withLock { state in
      state.isDismissed = true
      return state.socket?.rawValue
    }
    if let socket { _ = send([UInt8(ascii: "E")], to: socket) }
  }

  /// This process is about to go, and `call` takes over.
  /// - Returns: whether it has been told.
  func handOver(to call: MountCall) -> Bool {
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
