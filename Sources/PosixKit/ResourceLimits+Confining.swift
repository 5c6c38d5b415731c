internal import Glibc

extension ResourceLimits {
  /// What a process that reads what strangers sent may use.
  package struct Confinement: Sendable {
    /// Bytes of memory that it may write to, file mappings excepted, besides what it has (RLIMIT_DATA).
    package var memory: Int
    /// Seconds on a processor.
    package var processorSeconds: Int
    /// Bytes of the largest file that it writes.
    package var fileSize: Int

    package init(memory: Int, processorSeconds: Int, fileSize: Int) {
      self.memory = memory
      self.processorSeconds = processorSeconds
      self.fileSize = fileSize
    }
  }

  /// Holds this process to `limits` from now on, for good; it can open no more than a few
  /// files and sockets, and leaves no core file.
  package static func confine(_ limits: Confinement) {
    // Where one of them fails the others still hold.
    set(RLIMIT_DATA, dataSize() + limits.memory)
    set(RLIMIT_CPU, limits.processorSeconds)
    set(RLIMIT_FSIZE, limits.fileSize)
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
