internal import CLinux
internal import Glibc
package import PosixKit

/// What a mount has to remember beyond the end of the process that serves it: the kernel's greeting and what is open. It
/// is a file in memory that the next process inherits, with a header of words and records of eight words, each found by
/// its index.
///
/// A process may be killed between any two instructions, so the first word of a record is stored last, and a record counts
/// from then on. Other programs of the user find a mount and its process by the header (`Identity`).
///
/// What is recorded is changed under the lock only: that makes it Sendable.
package final class HandoverMemory: Sendable {
  package typealias Record = (index: Int, values: [UInt64])

  package enum Word: Int, Sendable {
    case layout = 0
    /// 1 where this process has got a request.
    case served = 1
    case fault = 2
    /// How many records have ever been in use at once, and so may be.
    case recordCount = 3
    /// The mount's device, as the kernel numbers it.
    case device = 4
    case nextHandle = 5
    /// The number of the process that serves.
    case process = 6
    /// 1 where the process is about to go and has said so.
    case handingOver = 7
    /// Which places the mount keeps things in.
    case places = 8
    /// 1 where the process is about to end the mount: the next one does that only.
    case ending = 11
  }

  package let file: FileDescriptor
  private let memory: SharedMemory
  private let free: Monitor<[Int]>
  private static let name = "podcastfs"
  private static let firstRecord = Int(PODCASTFS_MEMORY_HEADER) / 8
  private static let recordWords = 8
  /// More are not remembered: what is open beyond is as if the process had never had it.
  private static let limit = 1 << 14
  /// Bytes of the memory: some more than one MiB. The kernel applies the limit of file sizes (`ulimit -f`) to it.
  private static let size = Int(PODCASTFS_MEMORY_HEADER) + limit * recordWords * 8

  package init() throws(PosixError) {
    file = try FileDescriptor.inMemory(Self.name)
    try file.truncate(to: Int64(Self.size))
    memory = try SharedMemory(file, size: Self.size, writable: true)
    free = Monitor([])
    memory.store(Int(PODCASTFS_WORD_LAYOUT), UInt64(PODCASTFS_MEMORY_LAYOUT))
  }

  /// One that another process has left.
  /// - Throws: EINVAL where it is none, or of another layout.
  package init(inherited file: consuming FileDescriptor) throws(PosixError) {
    self.file = file
    let isWhole = Int(try self.file.status().st_size) == Self.size
    guard isWhole else { throw PosixError(.EINVAL, "take over the mount's memory") }
    memory = try SharedMemory(self.file, size: Self.size, writable: true)
    free = Monitor([])
    guard memory.load(Int(PODCASTFS_WORD_LAYOUT)) == UInt64(PODCASTFS_MEMORY_LAYOUT) else {
      throw PosixError(.EINVAL, "take over the mount's memory")
    }
    free.withLock { $0 = (0..<recordCount).reversed().filter { memory.load(Self.word($0)) == 0 } }
  }

  package subscript(word: Word) -> UInt64 {
    get { memory.load(word.rawValue) }
    set { memory.store(word.rawValue, newValue) }
  }

  /// A fault that ends this program is noted from here on. Never taken back: the memory lives as long as the program.
  package func noteFaults() {
    memory.noteFaults(Word.fault.rawValue)
    _ = Unmanaged.passRetained(self)
  }

  /// Notes that this process gives up by itself.
  package func noteFailure() { self[.fault] = UInt64(PODCASTFS_FAULT_EXIT) }

  /// What ended the process before, in words; nil where that was no fault of its own. Forgotten with that.
  package func takeFault() -> String? {
    let fault = self[.fault]
    self[.fault] = 0
    return fault == 0 ? nil : fault == UInt64(PODCASTFS_FAULT_EXIT) ? "it gave up" : "signal \(fault)"
  }

  package struct Identity: Sendable {
    package let device: UInt64
    package let process: Int32
    package let places: UInt64
  }

  /// The mount whose memory a process has open; nil where it has none, or the mount is about to end.
  package static func identity(inProcess process: Int32) -> Identity? {
    let file = Processes.openFiles(of: process).first { $0.target == "/memfd:\(name) (deleted)" }
    guard let file, let opened = try? FileDescriptor(opening: file.link, O_RDONLY),
      let memory = try? SharedMemory(opened, size: Int(PODCASTFS_MEMORY_HEADER), writable: false)
    else { return nil }
    func load(_ word: Word) -> UInt64 { memory.load(word.rawValue) }
    guard load(.layout) == UInt64(PODCASTFS_MEMORY_LAYOUT), load(.ending) == 0, load(.device) != 0 else {
      return nil
    }
    return Identity(
      device: load(.device), process: Int32(truncatingIfNeeded: load(.process)), places: load(.places))
  }

  private static func word(_ index: Int) -> Int { firstRecord + index * recordWords }
  private var recordCount: Int { min(Self.limit, max(0, Int(truncatingIfNeeded: self[.recordCount]))) }

  /// - Parameter values: seven at most.
  /// - Returns: its index; nil where there is no room.
  package func add(_ values: [UInt64]) -> Int? {
    let place = free.withLock { free -> Int? in
      if let index = free.popLast() { return index }
      let count = recordCount
      guard count < Self.limit else { return nil }
      self[.recordCount] = UInt64(count + 1)
      return count
    }
    guard let index = place else { return nil }
    for offset in 1..<Self.recordWords {
      memory.store(Self.word(index) + offset, offset <= values.count ? values[offset - 1] : 0)
    }
    memory.store(Self.word(index), 1)
    return index
  }

  package func remove(_ index: Int) {
    memory.store(Self.word(index), 0)
    free.withLock { $0.append(index) }
  }

  package var records: [Record] {
    (0..<recordCount).filter { memory.load(Self.word($0)) == 1 }.map { index in
      (index, (1..<Self.recordWords).map { memory.load(Self.word(index) + $0) })
    }
  }

  /// What the kernel and the first process agreed on (FUSE_INIT), as it came.
  package var greeting: [UInt8] {
    get {
      let count = min(Self.greetingLimit, Int(truncatingIfNeeded: memory.load(Self.greetingWord)))
      let start = (Self.greetingWord + 1) * 8
      return Array(memory.bytes[start..<(start + max(0, count))])
    }
    set {
      let start = (Self.greetingWord + 1) * 8
      memory.bytes[start..<(start + Self.greetingLimit)].copyBytes(from: newValue.prefix(Self.greetingLimit))
      memory.store(Self.greetingWord, UInt64(min(newValue.count, Self.greetingLimit)))
    }
  }

  private static let greetingWord = 16
  /// In bytes: it has 104 now.
  private static let greetingLimit = 256
}
