internal import Glibc
internal import PosixKit

/// A program that a test has started. What it writes is collected; it is killed when the value ends.
package final class RunningProcess: Sendable {
  /// How it ended.
  package enum End: Hashable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  private struct State {
    var output: [UInt8] = []
    var errors: [UInt8] = []
    var open = 2
    var end: End?
  }

  package let id: Int32
  private let state = Monitor(State())

  /// Starts a program.
  /// - Parameters:
  ///   - path: its file, or a name to look for (`Products.searchPath`).
  ///   - environment: all of it.
  ///   - third: what it has open as number 3.
  ///   - fourth: what it has open as number 4; itself no lower number.
  package init(
    _ path: String, _ arguments: [String] = [], environment: [String: String], third: Int32? = nil,
    fourth: Int32? = nil
  ) throws {
    let output = try Pipe()
    let errors = try Pipe()
    id = try Self.spawn(
      path, arguments, environment, output: output.writer.rawValue, errors: errors.writer.rawValue,
      third: third, fourth: fourth)
    let (id, state) = (id, state)
    collect(output.takeReader().release(), \.output)
    collect(errors.takeReader().release(), \.errors)
    PosixThread.start("wait") {
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0 && Errno.current == .EINTR {}
      let signal = status & 0x7f
      state.withLockNotifying { $0.end = signal == 0 ? .exit(status >> 8 & 0xff) : .signal(signal) }
    }
  }

  deinit { signal(SIGKILL) }

  /// What has come on standard output and standard error so far.
  package var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }
  package var errors: String { state.withLock { String(decoding: $0.errors, as: UTF8.self) } }

  /// Sends it a signal, while it is there.
  package func signal(_ number: Int32) {
    state.withLock { if $0.end == nil { kill(id, number) } }
  }

  /// Waits for its end and for all that it wrote; nil after `seconds`.
  ///
  /// A child of its own that outlives it may hold its output open: that is waited for one second only.
  package func wait(seconds: Double = patience) -> End? {
    guard let end = state.wait(until: .after(seconds), for: { $0.end }) else { return nil }
    _ = state.wait(until: .after(1)) { $0.open == 0 ? true : nil }
    return end
  }

  /// Waits until its standard output satisfies a condition; false after `seconds`.
  package func waitForOutput(seconds: Double = patience, _ condition: @escaping (String) -> Bool) -> Bool {
    state.wait(until: .after(seconds)) { state -> Bool? in
      if condition(String(decoding: state.output, as: UTF8.self)) { return true }
      return state.open == 0 ? false : nil
    } ?? false
  }

  private func collect(_ descriptor: Int32, _ place: any WritableKeyPath<State, [UInt8]> & Sendable) {
    let state = state
    PosixThread.start("collect") {
      let file = FileDescriptor(owning: descriptor)
      var piece = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(file.rawValue, &piece, piece.count)
        if count < 0 && Errno.current == .EINTR { continue }
        if count <= 0 { break }
        let bytes = piece[..<count]
        state.withLockNotifying { $0[keyPath: place] += bytes }
      }
      state.withLockNotifying { $0.open -= 1 }
    }
  }

  private static func spawn(
    _ path: String, _ arguments: [String], _ environment: [String: String], output: Int32, errors: Int32,
    third: Int32?, fourth: Int32?
  ) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    if let third { posix_spawn_file_actions_adddup2(&actions, third, 3) }
    if let fourth { posix_spawn_file_actions_adddup2(&actions, fourth, 4) }
    // The threads of a test may have signals blocked, which a program would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let texts = ([path] + arguments).map { strdup($0) }
    let variables = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { for text in texts + variables { free(text) } }
    var id: pid_t = 0
    let file = path.contains("/") ? path : Products.file(path) ?? path
    let error = posix_spawn(&id, file, &actions, &attributes, texts + [nil], variables + [nil])
    guard error == 0 else { throw PosixError(Errno(rawValue: error), "start", path) }
    return id
  }
}
