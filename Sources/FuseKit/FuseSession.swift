internal import CFuse3
internal import Glibc
internal import PosixKit

/// A mounted file system: the connection to the kernel, and the threads that serve it.
package final class FuseSession: @unchecked Sendable {
  // Invariant: set in init, only read afterwards; libfuse's session is safe to use from many threads.
  private let session: OpaquePointer
  private let handler: Unmanaged<FuseHandler>
  package let mountPoint: String
  private let running = Monitor(0)

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
    running.withLock { $0 = threads }
    for index in 0..<threads {
      PosixThread.start("fuse-\(index)") { [self] in
        serveRequests()
        let isLast = running.withLock { running in
          running -= 1
          return running == 0
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

  /// Takes the mount away, also while files are open in it.
  package func unmount() {
    fuse_session_exit(session)
    fuse_session_unmount(session)
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
