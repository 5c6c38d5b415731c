internal import CLinux
internal import Glibc

package enum ResourceLimits {
  /// As many open files as the system allows it: the usual 1024 are few for hundreds of readers
  /// (setrlimit(2)).
  package static func raiseOpenFiles() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Raises the nice(2) value of this thread, and of those that it starts, for good.
  package static func giveWay(by steps: Int32) { _ = nice(steps) }

  /// Gives memory back when a burst is over: libcurl's buffers are large, and there are many for a while
  /// (mallopt(3)). To be called before the first thread.
  package static func saveMemory() {
    mallopt(M_ARENA_MAX, 2)
    mallopt(M_MMAP_THRESHOLD, 128 * 1024)
    mallopt(M_TRIM_THRESHOLD, 4096 * 1024)
  }

  /// Has threads share their heaps (mallopt(3)): one of its own for each keeps what that thread has once needed. Large
  /// blocks that are used again and again, as those of reads, stay in the heap. To be called before the first thread.
  package static func shareHeaps() { mallopt(M_ARENA_MAX, 2) }
}

extension ResourceLimits {
  /// Limits this process, which reads documents of strangers, for good. It can write no file, open no more than a few files
  /// and sockets, and leaves no core file. A limit that cannot be set does not keep the others from being set.
  /// - Parameters:
  ///   - memory: bytes that it may write to, file mappings excepted, besides what it has (RLIMIT_DATA).
  ///   - processorSeconds: on a processor.
  package static func confine(memory: Int, processorSeconds: Int) {
    set(RLIMIT_DATA, dataSize() + memory)
    set(RLIMIT_CPU, processorSeconds)
    set(RLIMIT_FSIZE, 0)
    set(RLIMIT_NOFILE, 16)
    set(RLIMIT_CORE, 0)
  }

  /// What counts for RLIMIT_DATA now, in bytes: little, but for programs that carry a sanitizer (proc(5), statm).
  private static func dataSize() -> Int {
    let text = (try? Directories.read("/proc/self/statm")) ?? []
    let fields = text.split(separator: UInt8(ascii: " ")).map { Int(String(decoding: $0, as: UTF8.self)) }
    return (fields.count > 5 ? fields[5] ?? 0 : 0) * Int(getpagesize())
  }

  private static func set(_ resource: __rlimit_resource, _ limit: Int) {
    var both = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
    setrlimit(__rlimit_resource_t(resource.rawValue), &both)
  }
}

/// Memory that a burst of work has left behind: the allocator keeps it for the next one, which may be hours away.
package enum SpareMemory {
  private static let isDue = Monitor(false)

  /// Gives it back to the system, which takes some milliseconds.
  package static func giveBack() { malloc_trim(0) }

  /// The same in a moment: once for many bursts.
  /// - Parameter queue: whose thread does it.
  package static func giveBackSoon(on queue: WorkQueue) {
    let isFirst = isDue.withLock { isDue in
      defer { isDue = true }
      return !isDue
    }
    guard isFirst else { return }
    queue.async(after: 2) {
      isDue.withLock { $0 = false }
      giveBack()
    }
  }
}
