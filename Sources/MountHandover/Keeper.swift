internal import Glibc
package import PosixKit

/// The supervisor beside a mount's own process: it keeps the connection to the kernel, and starts the next process when
/// the one that serves has gone. It is a program of its own, podcastfs-keep, small and idle.
package final class Keeper: Sendable {
  private let socket: Monitor<FileDescriptor?>
  private let connection: Int32
  private let memory: HandoverMemory
  private let call: [String]

  /// The flag of a call that says that the connection and the memory are inherited.
  package static let flag = "--resume"

  /// Beside podcastfs, or in libexec of an installation.
  package static var program: String? {
    ChildProcess.find("podcastfs-keep") ?? ChildProcess.find("../libexec/podcastfs/podcastfs-keep")
  }

  /// - Parameters:
  ///   - call: what to start: the program's path, then its arguments, its name first and the mount point last.
  ///   - inherited: this process's end of the socket to the keeper that has started it; nil where it has mounted.
  package init(connection: Int32, memory: HandoverMemory, call: [String], inherited: Int32?) {
    (self.connection, self.memory, self.call) = (connection, memory, call)
    socket = Monitor(inherited.map { FileDescriptor(owning: $0) })
  }

  /// Whether the one that has started this process is of another version.
  private static var isOfOtherVersion: Bool {
    guard let program else { return false }
    return !Processes.isRunning(program, in: getppid())
  }

  /// Tells the keeper that this process serves; starts one where there is none of this version.
  /// - Throws: `PosixError` where no keeper holds the mount.
  package func begin() throws(PosixError) {
    let isOld = Self.isOfOtherVersion
    if send(isOld ? "E" : "B"), !isOld { return }
    try start()
  }

  private func start() throws(PosixError) {
    guard let program = Self.program else { throw PosixError(.ENOENT, "find", "podcastfs-keep") }
    let ends = try UnixSocket.pair()
    let process = try ChildProcess.start(
      program, name: "podcastfs-keep", [],
      files: [nil, nil, nil, connection, memory.file.rawValue, ends.second.rawValue])
    let first = ends.takeFirst().release()
    socket.withLock { $0 = FileDescriptor(owning: first) }
    guard send("N", [String(UserMask.bits, radix: 8)] + call) else {
      kill(process, SIGKILL)
      throw PosixError(.EINVAL, "start (its arguments are too long)", program)
    }
  }

  package func dismiss() { _ = send("E") }

  /// This process is about to go, and `program` takes over. Where the keeper has been killed, another one is started.
  package func handOver(to program: String) throws(PosixError) {
    if send("C", [program]) { return }
    try start()
    if !send("C", [program]) { throw PosixError(.EPIPE, "tell podcastfs-keep about", program) }
  }

  /// - Parameter strings: each is sent with a NUL behind it.
  private func send(_ letter: Unicode.Scalar, _ strings: [String] = []) -> Bool {
    let bytes = strings.reduce(into: [UInt8(ascii: letter)]) { $0 += Array($1.utf8) + [0] }
    return socket.withLock { socket in
      guard let number = socket?.rawValue else { return false }
      return bytes.withUnsafeBytes { Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } >= 0
    }
  }
}

/// What a process takes over from the one that served the mount before.
package struct InheritedMount {
  package let connection: Int32
  package let memory: HandoverMemory
  /// The socket to the keeper.
  package let keeper: Int32

  /// The descriptors that the keeper hands on.
  /// - Throws: `PosixError` where there are none, or of another version.
  package init() throws(PosixError) {
    (connection, keeper) = (3, 5)
    let file: Int32 = 4
    for number in [connection, file, keeper] {
      guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
        throw PosixError(.EBADF, "take over a mount without podcastfs-keep")
      }
    }
    memory = try HandoverMemory(inherited: FileDescriptor(owning: file))
  }

  /// What ended the process before, as it is said after "has died"; nil where that went in order.
  package func takeDeath() -> String? {
    let fault = memory.takeFault()
    defer { memory[.handingOver] = 0 }
    return memory[.handingOver] == 1 ? nil : fault.map { " (\($0))" } ?? ""
  }
}
