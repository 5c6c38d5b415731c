internal import Glibc
internal import PosixKit

/// What a process takes over from the one that served the mount before.
struct MountInheritance {
  /// The connection to the kernel.
  var connection: Int32
  var memory: LastingMemory
  /// The socket to the keeper; nil where the service manager has kept the descriptors.
  var keeper: Int32?

  /// The descriptors that the keeper hands on.
  static func fromKeeper() throws -> MountInheritance {
    let (connection, memory, keeper): (Int32, Int32, Int32) = (3, 4, 5)
    for number in [connection, memory, keeper] {
      guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
        throw UsageError("\(MountCall.flag) is for podcastfs-keep")
      }
    }
    let file = FileDescriptor(owning: memory)
    return MountInheritance(
      connection: connection, memory: try LastingMemory(inherited: file), keeper: keeper)
  }

  /// The names that the service manager keeps them under.
  static let (connectionName, memoryName) = ("podcastfs-connection", "podcastfs-memory")

  /// What the service manager has kept of the mount on `mountPoint`; nil where it has nothing, or that is no longer
  /// mounted there.
  static func fromServiceManager(_ mountPoint: String) -> MountInheritance? {
    var kept = SocketActivation.descriptors()
    let connection = kept.removeValue(forKey: connectionName)
    let file = kept.removeValue(forKey: memoryName).map { FileDescriptor(owning: $0) }
    for other in kept.values { close(other) }
    guard let connection else { return nil }
    guard let file, let memory = try? LastingMemory(inherited: file),
      let mount = MountTable.mount(on: mountPoint), mount.isOurs,
      memory[.device] == mount.deviceNumber, memory.greeting.count > 0
    else {
      close(connection)
      for name in [connectionName, memoryName] { ServiceManager.release(name) }
      return nil
    }
    return MountInheritance(connection: connection, memory: memory, keeper: nil)
  }

  /// What ended the process before, and what it was at.
  struct Death {
    /// As it is said after "has died".
    let cause: String
    /// Whether it was the third in a minute that was the process's own fault, and nobody else counts them.
    let isHopeless: Bool
  }

  /// How the process before died; nil where it went in order.
  func death() -> Death? {
    let isFault = memory[.fault] != 0
    let cause = Self.cause(memory)
    defer { memory[.handingOver] = 0 }
    if memory[.handingOver] == 1 { return nil }
    return Death(cause: cause, isHopeless: keeper == nil && isFault && memory.countFault())
  }

  /// What the memory says of a process that has died; it says nothing any more then.
  static func cause(_ memory: LastingMemory) -> String {
    (memory.takeFault().map { " (\($0))" } ?? "") + text(of: memory.takeServed())
  }

  private static func text(of served: [LastingMemory.Served]) -> String {
    let underWay = served.filter(\.isUnderWay)
    if !underWay.isEmpty { return " while it served " + underWay.map(text).joined(separator: ", ") }
    return served.isEmpty ? "" : "; the last that it served: " + served.map(text).joined(separator: ", ")
  }

  private static func text(of served: LastingMemory.Served) -> String {
    let name = operations[served.operation] ?? "request \(served.operation)"
    let inode = "inode \(served.node & (1 << 53 - 1))"
    return name.hasSuffix(" in") ? "\(name) \(inode)" : "\(name) of \(inode)"
  }

  /// By the kernel's numbers (enum fuse_opcode of linux/fuse.h).
  private static let operations: [UInt32: String] = [
    1: "lookup in", 2: "forget", 3: "getattr", 4: "setattr", 9: "mkdir in", 10: "unlink in", 11: "rmdir in",
    12: "rename in", 14: "open", 15: "read", 16: "write", 17: "statfs", 18: "release", 20: "fsync",
    21: "setxattr", 22: "getxattr", 23: "listxattr", 24: "removexattr", 25: "flush", 26: "init",
    27: "opendir", 28: "readdir", 29: "releasedir", 34: "access", 35: "create in", 36: "interrupt",
    40: "poll", 42: "batch_forget", 44: "readdirplus", 45: "rename in", 46: "lseek",
  ]
}
