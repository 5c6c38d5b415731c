internal import CLinux
internal import Glibc

/// Threads of our own: the cooperative pool has as many threads as cores, and blocking calls starve it.
package enum PosixThread {
  private final class Body {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts a detached thread.
  /// - Parameter name: at most 15 bytes, shown by `ps -T`.
  package static func start(
    _ name: String, stackSize: Int = 512 * 1024, _ run: @escaping @Sendable () -> Void
  ) {
    let argument = Unmanaged.passRetained(Body(name: name, run: run)).toOpaque()
    let error = podcastfs_start_detached(
      { argument in
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        podcastfs_set_thread_name(body.name)
        body.run()
        return argument
      }, argument, stackSize)
    precondition(error == 0, "cannot start a thread: \(Errno(rawValue: error))")
  }

  /// The kernel's number of the calling thread.
  package static var currentID: Int32 { podcastfs_gettid() }
}
