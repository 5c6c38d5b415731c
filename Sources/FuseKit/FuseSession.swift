internal import CFuse3
internal import CLinux
internal import Glibc
package import PosixKit

/// A mounted file system: the connection to the kernel, and the threads that serve it.
///
/// The pointers are set in `init` and only read afterwards, libfuse's session may be used from many threads, and all that
/// changes is in a `Monitor`: that makes it Sendable.
package final class FuseSession: @unchecked Sendable {
  private let session: OpaquePointer
  private let handler: Unmanaged<FuseHandler>
  package let mountPoint: String
  private let serving = Monitor(Serving())

  private struct Serving: ~Copyable {
    var count = 0
    var threads: Set<PosixThread.Identity> = []
    /// The kernel's greeting (FUSE_INIT), once it has been answered.
    var greeting: [UInt8]?
  }

  /// Mounts `fileSystem` on `mountPoint`, or takes a mount over from a process that has gone.
  /// - Parameters:
  ///   - options: for the kernel and fusermount3: "allow_other", "fsname=…".
  ///   - inherited: the mount's descriptor of /dev/fuse, taken over, and the greeting that the first process got; nil to
  ///     mount.
  /// - Throws: `FuseMountError`.
  package init(
    _ fileSystem: any FuseFileSystem, at mountPoint: String, options: [String],
    inherited: (connection: Int32, greeting: [UInt8])? = nil
  ) throws(FuseMountError) {
    self.mountPoint = mountPoint
    podcastfs_fuse_collect_messages()
    let handler = Unmanaged.passRetained(FuseHandler(fileSystem))
    self.handler = handler
    var operations = FuseHandler.operations
    let list = options.isEmpty ? nil : options.joined(separator: ",")
    guard let created = podcastfs_fuse_session(list, &operations, handler.toOpaque()) else {
      handler.release()
      throw FuseMountError("an option was not understood: \(list ?? "")")
    }
    session = created
    guard fuse_session_mount(session, inherited.map { "/dev/fd/\($0.connection)" } ?? mountPoint) == 0 else {
      let reason = String(cString: podcastfs_fuse_last_message())
      fuse_session_destroy(session)
      handler.release()
      throw FuseMountError("cannot mount on \(mountPoint)" + (reason.isEmpty ? "" : ": \(reason)"))
    }
    if let inherited { replay(inherited.greeting) }
  }

  /// Serves requests on `threads` threads until the file system is unmounted; then `ended` is called once.
  /// - Parameter served: called by each thread at its first request.
  package func serve(
    threads: Int, served: @escaping @Sendable () -> Void = {}, ended: @escaping @Sendable () -> Void
  ) {
    PosixThread.allowWaking()
    serving.withLock { $0.count = threads }
    for index in 0..<threads {
      PosixThread.start("fuse-\(index)") { [self] in
        let own = PosixThread.Identity.current
        serving.withLock { _ = $0.threads.insert(own) }
        serveRequests(served)
        let isLast = serving.withLockNotifying { serving in
          serving.threads.remove(own)
          serving.count -= 1
          return serving.count == 0
        }
        if isLast { ended() }
      }
    }
  }

  private func serveRequests(_ served: () -> Void) {
    var buffer = fuse_buf()
    defer { free(buffer.mem) }
    var hasServed = false
    while fuse_session_exited(session) == 0 {
      let result = fuse_session_receive_buf(session, &buffer)
      if result == -EINTR { continue }
      if result <= 0 { break }
      let head = KernelRequest(buffer)
      head.isServed()
      let greeting =
        head.isGreeting ? Array(UnsafeRawBufferPointer(start: buffer.mem, count: buffer.size)) : nil
      if !hasServed && greeting == nil {
        hasServed = true
        served()
      }
      fuse_session_process_buf(session, &buffer)
      if let greeting { serving.withLockNotifying { $0.greeting = greeting } }
    }
    fuse_session_exit(session)
  }

  package static var libraryVersion: String { String(cString: fuse_pkgversion()) }

  /// The connection to the kernel. The mount lives until the last process has closed it.
  package var connection: Int32 { fuse_session_fd(session) }

  /// Waits for the kernel's greeting, which comes before everything else.
  /// - Returns: nil where it does not come.
  package func waitForGreeting() -> [UInt8]? { serving.wait(until: .after(5)) { $0.greeting } }

  /// Whether the kernel gives to another process what this one has not answered (Linux 6.9).
  package static func canBeHandedOver(_ greeting: [UInt8]) -> Bool {
    // The second flags of struct fuse_init_in: version, subversion, read-ahead, flags, further flags.
    let place = KernelRequest.headerSize + 16
    guard greeting.count >= place + 4 else { return false }
    let flags = greeting.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    let hasResend: UInt32 = 1 << 7
    return flags & hasResend != 0
  }

  /// libfuse learns from the greeting of old what was agreed on; the kernel throws the answer away.
  private func replay(_ greeting: [UInt8]) {
    var bytes = greeting
    bytes.withUnsafeMutableBytes { bytes in
      var buffer = fuse_buf()
      buffer.mem = bytes.baseAddress
      buffer.size = bytes.count
      if bytes.count > 0 { fuse_session_process_buf(session, &buffer) }
    }
  }

  /// Has the kernel give again what the process before had not answered. To be called before a request is read: those
  /// that this process had read by then would come once more too, and be carried out twice at the same time.
  /// - Throws: `PosixError`: EINVAL where it can't.
  package func resume() throws(PosixError) {
    try retrying("resume the mount", mountPoint) {
      KernelRequest.resend.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
    }
  }

  /// Whether the kernel still has the mount; false after it was unmounted, or its connection aborted.
  package var isConnected: Bool { Self.isConnected(connection) }

  /// The same of a connection that no session serves yet.
  package static func isConnected(_ connection: Int32) -> Bool {
    var entry = pollfd(fd: connection, events: 0, revents: 0)
    return poll(&entry, 1, 0) == 0
  }

  /// Ends the threads that serve a mount which has been taken away. Requests that wait, or would wait, get EIO. Other
  /// requests are served until the last program has closed its files, or until the deadline.
  ///
  /// The connection's descriptor stays open until the process ends. Another thread may be writing a reply to it. If a new
  /// file had the same number, the reply would go into that file.
  package func end(until deadline: MonotonicTime) {
    ParkedReply.refuse(with: .EIO)
    if serving.wait(until: deadline, for: { $0.count == 0 ? true : nil }) != nil { return }
    fuse_session_exit(session)
    let last = MonotonicTime.after(0.5)
    while serving.withLock({ $0.count }) > 0 && .now < last {
      // A wake-up just before a thread begins to wait is lost: this loop sends another one.
      serving.withLock { serving in for thread in serving.threads { thread.wake() } }
      _ = serving.wait(until: .after(0.005)) { $0.count == 0 ? true : nil }
    }
  }

  /// The kernel forgets the attributes of `node`; with `data`, its pages too (directories: the listing).
  /// Not from a thread that answers requests where `data` (a reader of it may hold the page).
  package func invalidate(node: UInt64, data: Bool) {
    // For a page that is being read it waits until that is answered.
    _ = PosixThread.whileWaitingForItself {
      fuse_lowlevel_notify_inval_inode(session, node, data ? 0 : -1, 0)
    }
  }

  /// The kernel looks the name up again before it next uses it. Where it leads to the same node as before, a working
  /// directory beneath it stays in its place (Linux 6.2; an older kernel forgets the name).
  package func invalidate(name: String, in parent: UInt64) {
    let count = name.utf8.count
    PosixThread.whileWaitingForItself {
      let result = podcastfs_fuse_expire_entry(session, parent, name, count)
      if result == -ENOSYS || result == -EINVAL {
        fuse_lowlevel_notify_inval_entry(session, parent, name, count)
      }
    }
  }
}

/// A mount that did not come about: one line for a person.
package struct FuseMountError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
