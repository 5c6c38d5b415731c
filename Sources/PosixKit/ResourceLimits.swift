internal import CLinux
internal import Glibc

/// What the system lets this process have.
package enum ResourceLimits {
  /// As many open files as the system allows it: the usual 1024 are few for hundreds of readers
  /// (setrlimit(2)).
  package static func raiseOpenFiles() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Lets others have more of the processors than this thread, and those that it starts (nice(2)), for good.
  package static func giveWay(by steps: Int32) { _ = nice(steps) }

  /// Gives memory back when a burst is over: libcurl's buffers are large, and there are many for a while
  /// (mallopt(3)). To be called before the first thread.
  package static func saveMemory() { podcastfs_save_memory() }

  /// Has threads share their heaps (mallopt(3)): one of its own for each keeps what that thread has once needed. Large
  /// blocks that are used again and again, as those of reads, stay in the heap. To be called before the first thread.
  package static func shareHeaps() { podcastfs_share_heaps() }
}
