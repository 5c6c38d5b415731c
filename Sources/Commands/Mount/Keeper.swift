internal import Glibc
internal import PosixKit

/// The process beside a mount's own that keeps the connection to the kernel, and starts the next one when that has gone.
///
/// It is a program of its own, podcastfs-keep, small and without work. Where it is killed itself, another one is started:
/// only both at once end the mount. Those that do not last are followed later and later, without end; meanwhile whoever
/// asks hears that nobody keeps the mount.
final class Keeper: Sendable {
  private struct State: ~Copyable {
    var socket: FileDescriptor?
    /// Where this process has started it.
    var process: Int32?
    var isDismissed = false
  }
  private let state: Monitor<State>
  private let connection: Int32
  private let memory: LastingMemory
  private let call: MountCall
  private let tell: @Sendable (_ why: String?, _ isNews: Bool) -> Void

  /// Beside podcastfs, or where installations put what nobody calls by name.
  static var program: String? {
    ChildProcess.find("podcastfs-keep") ?? ChildProcess.find("../libexec/podcastfs/podcastfs-keep")
  }

  /// - Parameters:
  ///   - inherited: this process's end of the socket to the keeper that has started it; nil where there is none.
  ///   - tell: hears why nobody keeps the mount, and nil as soon as somebody does; and whether the log is to have it.
  init(
    connection: Int32, memory: LastingMemory, call: MountCall, inherited: Int32? = nil,
    tell: @escaping @Sendable (_ why: String?, _ isNews: Bool) -> Void
  ) {
    self.connection = connection
    self.memory = memory
    self.call = call
    self.tell = tell
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
    var failure: String?
    let inherited = state.withLock { $0.socket?.rawValue }
    if let inherited, Self.isOfOtherVersion {
      _ = send([UInt8(ascii: "E")], to: inherited)
      state.withLock { $0.socket = nil }
      failure = start()
    } else if let inherited {
      _ = send([UInt8(ascii: "B")], to: inherited)
    } else {
      failure = start()
    }
    _ = PosixThread.attempt("keeper", stackSize: 64 * 1024) { [self, failure] in watch(failure) }
  }

  /// - Returns: why there is none; nil where one has been started.
  private func start() -> String? {
    guard let program = Self.program else { return "podcastfs-keep is not installed" }
    do {
      let ends = try UnixSocket.pair()
      // Before it is there: from then on this process may die.
      guard say("N", to: ends.first.rawValue) else { return "podcastfs-keep cannot be told what to start" }
      let process = try ChildProcess.start(
        program, name: "podcastfs-keep", [],
        files: [nil, nil, nil, connection, memory.file.rawValue, ends.second.rawValue])
      let socket = ends.takeFirst().release()
      state.withLock { state in
        state.socket = FileDescriptor(owning: socket)
        state.process = process
      }
      tell(nil, false)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Follows one with another, as long as the mount is there.
  /// - Parameter failure: why there is none; nil where there is one.
  private func watch(_ failure: String?) {
    var failure = failure
    // Those in a row that did not last, or could not begin.
    var count = 0
    var told: String?
    while true {
      if failure == nil, let socket = state.withLock({ $0.socket?.rawValue }) {
        if !hangsUp(socket, within: Self.lasting) {
          (count, told) = (0, nil)
          _ = hangsUp(socket, within: -1)
        }
        bury()
      }
      count += 1
      let pause = Self.pause(after: failure == nil ? count : max(count, Self.atOnce + 1))
      if pause > 0 {
        let why = failure ?? "podcastfs-keep has died again and again"
        let text = "\(why); the next try is in \(Int(pause)) s"
        tell(text, text != told)
        told = text
      }
      let isDismissed = state.wait(until: .after(pause)) { $0.isDismissed ? true : nil } ?? false
      if isDismissed { return }
      failure = start()
    }
  }

  /// Waits for the end of the one at the other end of `socket`, for so many milliseconds; without a bound where they are
  /// negative.
  private func hangsUp(_ socket: Int32, within milliseconds: Int32) -> Bool {
    let end = milliseconds < 0 ? MonotonicTime.distantFuture : .after(Double(milliseconds) / 1000)
    while true {
      let left = milliseconds < 0 ? -1 : Int32(max(end.seconds(since: .now), 0) * 1000)
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      let count = poll(&entry, 1, left)
      if count == 0 { return false }
      if count < 0 { continue }
      var byte: UInt8 = 0
      let received = recv(socket, &byte, 1, 0)
      if received == 0 || received < 0 && errno != EINTR { return true }
    }
  }

  /// Takes note of its end.
  private func bury() {
    let process = state.withLock { state in
      state.socket = nil
      defer { state.process = nil }
      return state.process
    }
    if let process { _ = try? ChildProcess.wait(process) }
  }

  /// Milliseconds after which one counts as one that lasts.
  private static let lasting: Int32 = 60_000
  /// So many that do not last are followed at once.
  private static let atOnce = 2
  /// Seconds.
  private static let longestPause = 300.0

  /// Seconds until the next one is started after `count` in a row that did not last.
  private static func pause(after count: Int) -> Double {
    count <= atOnce ? 0 : min(Double(1 << min(count - atOnce - 1, 16)), longestPause)
  }

  // MARK: What it is told

  /// The mount has ended.
  func dismiss() {
    let socket = state.withLockNotifying { state in
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
