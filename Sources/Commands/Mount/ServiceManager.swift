internal import Glibc
internal import PosixKit

/// The service manager that started this program, where one did (sd_notify(3)).
enum ServiceManager {
  /// The program serves: what `Type=notify` waits for.
  static func tellReady() { tell("READY=1") }

  /// The program is about to end.
  static func tellStopping() { tell("STOPPING=1") }

  // MARK: Descriptors that outlive the program

  /// Whether it keeps descriptors for this service: it says how many (FDSTORE, sd_pid_notify_with_fds(3)); before systemd
  /// 254 the unit does.
  static var storesDescriptors: Bool {
    guard getenv("NOTIFY_SOCKET") != nil, let room = getenv("FDSTORE") else { return false }
    return (Int(String(cString: room)) ?? 0) > 0
  }

  /// Has a copy of a descriptor kept until this service is stopped, and handed to its next process.
  static func store(_ descriptor: borrowing FileDescriptor, as name: String) {
    store(descriptor.rawValue, as: name)
  }

  /// FDPOLL=0: the service manager would wake up with each request of the kernel.
  static func store(_ descriptor: Int32, as name: String) {
    tell("FDSTORE=1\nFDNAME=\(name)\nFDPOLL=0", with: descriptor)
  }

  static func release(_ name: String) { tell("FDSTOREREMOVE=1\nFDNAME=\(name)") }

  private static func tell(_ words: String, with descriptor: Int32? = nil) {
    guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), let first = path.utf8.first,
      first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
    else { return }
    UnixSocket.send(words, to: path, with: descriptor)
  }
}
