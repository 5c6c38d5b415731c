internal import CFuse3
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

  /// The threads that serve.
  private struct Serving: ~Copyable {
    var count = 0
    var threads: Set<PosixThread.Identity> = []
  }

  /// Mounts `fileSystem` on `mountPoint`.
  /// - Parameters:
  ///   - options: for the kernel and fusermount3: "allow_other", "fsname=…".
  /// - Throws: `FuseMountError`.
  package init(
    _ fileSystem: any FuseFileSystem, at mountPoint: String, options: [String]
  ) throws(FuseMountError) {
    self.mountPoint = mountPoint
    podcastfs_fuse_collect_messages()
    let handler = Unmanaged.passRetained(FuseHandler(fileSystem))
    self.handler = handler
    var arguments = ["podcastfs"]
    if !options.isEmpty { arguments += ["-o", options.joined(separator: ",")] }
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var parsed = fuse_args()
    var operations = FuseHandler.operations
    let created = pointers.withUnsafeMutableBufferPointer { buffer in
      parsed.argc = Int32(arguments.count)
      parsed.argv = buffer.baseAddress
      parsed.allocated = 0
      return fuse_session_new(
        &parsed, &operations, MemoryLayout<fuse_lowlevel_ops>.size, handler.toOpaque())
    }
    fuse_opt_free_args(&parsed)
    pointers.forEach { free($0) }
    guard let created else {
      handler.release()
      throw FuseMountError("an option was not understood: \(options.joined(separator: ","))")
    }
    session = created
    guard fuse_session_mount(session, mountPoint) == 0 else {
      let reason = String(cString: podcastfs_fuse_last_message())
      fuse_session_destroy(session)
      handler.release()
      throw FuseMountError("cannot mount on \(mountPoint)" + (reason.isEmpty ? "" : ": \(reason)"))
    }
  }

  /// Serves requests on `threads` threads until the file system is unmounted; then `ended` is called once.
  package func serve(threads: Int, ended: @escaping @Sendable () -> Void) {
    PosixThread.allowWaking()
    serving.withLock { $0.count = threads }
    for index in 0..<threads {
      PosixThread.start("fuse-\(index)") { [self] in
        let own = PosixThread.Identity.current
        serving.withLock { _ = $0.threads.insert(own) }
        serveRequests()
        let isLast = serving.withLockNotifying { serving in
          serving.threads.remove(own)
          serving.count -= 1
          return serving.count == 0
        }
        if isLast { ended() }
      }
    }
  }

  private func serveRequests() {
    var buffer = fuse_buf()
    defer { free(buffer.mem) }
    while fuse_session_exited(session) == 0 {
      let result = fuse_session_receive_buf(session, &buffer)
      if result == -EINTR { continue }
      if result <= 0 { break }
      fuse_session_process_buf(session, &buffer)
    }
    fuse_session_exit(session)
  }

  /// Whether the kernel still has the mount; false after it was unmounted, or its connection aborted.
  package var isConnected: Bool {
    var connection = pollfd(fd: fuse_session_fd(session), events: 0, revents: 0)
    return poll(&connection, 1, 0) == 0
  }

  /// Ends the serving of a mount that has been taken away: what is parked, or would be, is answered with EIO, and
  /// everything else until the last program has closed what it has open, or until the deadline; then each thread ends
  /// with the request it has.
  ///
  /// The connection's descriptor stays open until the process ends. A reply may be on its way on any thread, and
  /// would go into whatever file had got the number by then.
  package func end(until deadline: MonotonicTime) {
    ParkedReply.refuse(with: .EIO)
    if serving.wait(until: deadline, for: { $0.count == 0 ? true : nil }) != nil { return }
    fuse_session_exit(session)
    let last = MonotonicTime.after(0.5)
    while serving.withLock({ $0.count }) > 0 && .now < last {
      // A wake-up that comes just before a thread begins to wait is lost: another one follows.
      serving.withLock { serving in
        for thread in serving.threads { thread.wake() }
      }
      _ = serving.wait(until: .after(0.005)) { $0.count == 0 ? true : nil }
    }
  }

  /// The kernel forgets the attributes of `node`; with `data`, its pages too (directories: the listing).
  /// Not from a thread that answers requests where `data` (a reader of it may hold the page).
  package func invalidate(node: UInt64, data: Bool) {
    fuse_lowlevel_notify_inval_inode(session, node, data ? 0 : -1, 0)
  }

  /// The kernel forgets the name.
  package func invalidate(name: String, in parent: UInt64) {
    fuse_lowlevel_notify_inval_entry(session, parent, name, name.utf8.count)
  }

  /// The kernel hears that the name has gone.
  package func deleted(name: String, node: UInt64, in parent: UInt64) {
    fuse_lowlevel_notify_delete(session, parent, node, name, name.utf8.count)
  }
}

/// A mount that did not come about: one line for a person.
package struct FuseMountError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
