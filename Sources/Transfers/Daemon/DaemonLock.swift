internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// Makes the daemon the only one of its user, and tells clients its socket, whatever their environment.
struct DaemonLock: ~Copyable {
  private let file: FileDescriptor

  /// - Returns: nil where another daemon holds it and serves.
  /// - Throws: EBUSY where one that serves nobody does not let go of it within ten seconds.
  static func take(in state: String) throws -> DaemonLock? {
    let path = DaemonPlace.lockFile(in: state)
    let deadline = MonotonicTime.after(10)
    while true {
      let file = try FileDescriptor(openingRegular: path, O_RDWR | O_CREAT)
      // Someone may have deleted the file meanwhile: a lock on what has no name keeps nobody away.
      if file.tryLock(.exclusive), try file.status().st_nlink > 0 { return DaemonLock(file: file) }
      if DaemonPlace.connect(in: state) != nil { return nil }
      if MonotonicTime.now > deadline {
        throw TransferFailure(
          .EBUSY, "another podcastfs-transferd has \(path) locked but does not answer: end it")
      }
      usleep(20_000)
    }
  }

  private init(file: consuming FileDescriptor) { self.file = file }

  func publish(socket: String) throws {
    let line = Array((socket + "\n").utf8)
    // Over what is there: a full disk has room for that.
    try file.write(line, at: 0)
    try file.truncate(to: Int64(line.count))
  }
}
