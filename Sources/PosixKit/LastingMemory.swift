internal import CLinux
internal import Glibc

/// What a mount has to remember beyond the end of the process that serves it: a file in memory that the next process
/// inherits. It has a header of words and texts of fixed places, and records of eight words, each found by its index.
///
/// A record counts from the moment its first word is stored, which is stored last: a process may be killed between any two
/// instructions. What is read back is believed by who knows what it means.
///
/// What is recorded is changed under the lock only: that makes it Sendable.
package final class LastingMemory: Sendable {
  /// What a record is about. The numbers are kept as long as the layout's.
  package enum Kind: UInt64, Sendable {
    case movedNode = 2
    case openFile = 3
    case openDirectory = 4
    case dropAtClose = 5
    /// The thread that makes and removes names for those who watch.
    case announcer = 6
    case endedDirectory = 7
  }

  /// A record as it is read back.
  package struct Record: Sendable {
    package let kind: Kind
    package let index: Int
    /// Seven.
    package let values: [UInt64]
  }

  /// Words of the header that have one meaning for good.
  package enum Word: Int, Sendable {
    case layout = 0
    case served = 1
    case fault = 2
    /// How many records have ever been in use at once, and so may be.
    case recordCount = 3
    /// The mount's device: major number before 32 bits of the minor.
    case device = 4
    case nextHandle = 5
    /// 1 where the process is about to go and has said so.
    case handingOver = 7
    /// Seconds of CLOCK_BOOTTIME at which processes were found to have ended by a fault of their own: the last three,
    /// the latest last; 0 where there were not so many.
    case thirdLastFault = 8
    case secondLastFault = 9
    case lastFault = 10
    /// 1 where the process is about to end the mount: the next one does that only.
    case ending = 11
    /// How many bytes of text there have ever been.
    case textEnd = 12
    /// The last commit of the catalogue that was taken in, 0 where none is known.
    case seenCommit = 13
    /// When the downloads last changed, as far as that was taken in: in seconds since 1970, 0 where that is not known.
    case seenChange = 14
    /// 1 where somebody reads the events.
    case isFollowed = 15
  }

  package let file: FileDescriptor
  private let memory: SharedMemory
  private let free: Monitor<[Int]>

  private static let firstRecord = Int(PODCASTFS_MEMORY_HEADER) / 8
  private static let recordWords = 8
  /// More are not remembered: what is open or known beyond is as if the process had never had it.
  package static let limit = (1 << 20) - textRoom / (recordWords * 8)
  private static let textStart = Int(PODCASTFS_MEMORY_HEADER) + limit * recordWords * 8
  private static let textRoom = 1 << 20
  private static let size = textStart + textRoom

  /// A new one, for a mount that begins. Its pages take room as they are used.
  package init() throws(PosixError) {
    file = try FileDescriptor.inMemory("podcastfs")
    try file.truncate(to: Int64(Self.size))
    memory = try SharedMemory(file, size: Self.size, writable: true)
    free = Monitor([])
    memory.store(Int(PODCASTFS_WORD_LAYOUT), UInt64(PODCASTFS_MEMORY_LAYOUT))
  }

  /// One that another process has left.
  /// - Throws: EINVAL where it is none, or of another layout.
  package init(inherited file: consuming FileDescriptor) throws(PosixError) {
    self.file = file
    guard try self.file.status().st_size == Int64(Self.size) else {
      throw PosixError(.EINVAL, "take over the mount's memory")
    }
    memory = try SharedMemory(self.file, size: Self.size, writable: true)
    free = Monitor([])
    guard memory.load(Int(PODCASTFS_WORD_LAYOUT)) == UInt64(PODCASTFS_MEMORY_LAYOUT) else {
      throw PosixError(.EINVAL, "take over the mount's memory")
    }
    let count = recordCount
    free.withLock { $0 = (0..<count).reversed().filter { memory.load(Self.word($0)) == 0 } }
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

  /// Counts a fault, where nobody else does (the keeper counts by itself).
  /// - Returns: whether it is the third within a minute.
  package func countFault() -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    let now = UInt64(time.tv_sec)
    self[.thirdLastFault] = self[.secondLastFault]
    self[.secondLastFault] = self[.lastFault]
    self[.lastFault] = now
    let first = self[.thirdLastFault]
    return first != 0 && now >= first && now - first <= Self.faultPeriod
  }

  /// Seconds.
  private static let faultPeriod: UInt64 = 60

  // MARK: Records

  private static func word(_ index: Int) -> Int { firstRecord + index * recordWords }
  private var recordCount: Int { min(Self.limit, max(0, Int(truncatingIfNeeded: self[.recordCount]))) }

  /// - Parameter values: seven at most.
  /// - Returns: its index; nil where there is no room.
  package func add(_ kind: Kind, _ values: [UInt64]) -> Int? {
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
    memory.store(Self.word(index), kind.rawValue)
    return index
  }

  /// - Parameter position: of the values, from 0.
  package func set(_ index: Int, _ position: Int, to value: UInt64) {
    memory.store(Self.word(index) + 1 + position, value)
  }

  package func value(_ index: Int, _ position: Int) -> UInt64 {
    memory.load(Self.word(index) + 1 + position)
  }

  package func remove(_ index: Int) {
    memory.store(Self.word(index), 0)
    free.withLock { $0.append(index) }
  }

  /// All that there are, in the order of their indexes.
  package var records: [Record] {
    (0..<recordCount).compactMap { index in
      guard let kind = Kind(rawValue: memory.load(Self.word(index))) else { return nil }
      let values = (1..<Self.recordWords).map { memory.load(Self.word(index) + $0) }
      return Record(kind: kind, index: index, values: values)
    }
  }

  // MARK: Text

  /// How much of the text is there at least, up to its end, in bytes.
  package static let textLimit = textRoom - textLineLimit
  /// More are never added at once.
  package static let textLineLimit = 1 << 16

  /// Adds a line to the text; the oldest ones go for it. One call at a time.
  package func add(line: [UInt8]) {
    let end = self[.textEnd]
    guard line.count <= Self.textLineLimit else { return }
    for (place, part) in Self.textPlaces(from: end, count: line.count) {
      memory.bytes[place].copyBytes(from: line[part])
    }
    // A line counts once it is whole.
    self[.textEnd] = end &+ UInt64(line.count)
  }

  /// Copies what follows `position`, which must be within `textLimit` of the end, as much as there is and `buffer` takes.
  package func copyText(from position: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, Int(min(UInt64(Self.textLimit), self[.textEnd] &- position)))
    for (place, part) in Self.textPlaces(from: position, count: count) {
      UnsafeMutableRawBufferPointer(rebasing: buffer[part]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: memory.bytes[place]))
    }
    return count
  }

  /// Nobody reads any more: the text's pages go back to the system.
  package func clearText() {
    file.punchHole(Int64(Self.textStart)..<Int64(Self.textStart + Self.textRoom))
  }

  /// Where `count` bytes from a position on lie in the mapping: in two parts where they go around its end.
  private static func textPlaces(
    from position: UInt64, count: Int
  ) -> [(place: Range<Int>, part: Range<Int>)] {
    let first = Int(position % UInt64(textRoom))
    let head = min(count, textRoom - first)
    return [
      (textStart + first..<textStart + first + head, 0..<head),
      (textStart..<textStart + count - head, head..<count),
    ]
  }

  private static let toldWord = 100
  private static let toldWords = 32

  /// Notes that something has been told, by a number that stands for it; of the last 32 it is known.
  package func note(told number: UInt64) {
    let count = memory.load(Self.toldWord)
    memory.store(Self.toldWord + 1 + Int(count % UInt64(Self.toldWords)), number)
    memory.store(Self.toldWord, count &+ 1)
  }

  package var told: Set<UInt64> {
    Set((1...Self.toldWords).map { memory.load(Self.toldWord + $0) })
  }

  // MARK: The connection's beginning

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

  // MARK: What is served

  /// A request of the kernel, as far as it says what a process was at when it died.
  package struct Served: Sendable {
    package let operation: UInt32
    package let node: UInt64
    /// Whether it was still at it.
    package let isUnderWay: Bool
  }

  private static let servedWord = 64
  private static let servedWords = 2
  private static let threadLimit = 16

  /// Notes what a thread is at.
  package func note(thread: Int, operation: UInt32, node: UInt64) {
    guard thread < Self.threadLimit else { return }
    let word = Self.servedWord + thread * Self.servedWords
    memory.store(word, node)
    memory.store(word + 1, UInt64(operation) | 1 << 32)
  }

  /// A thread has done what it was at.
  package func noteDone(thread: Int) {
    guard thread < Self.threadLimit else { return }
    let word = Self.servedWord + thread * Self.servedWords + 1
    memory.store(word, memory.load(word) & 0xffff_ffff | 2 << 32)
  }

  /// What the threads of the process before were at, those first that were still at it; none of them from here on.
  package func takeServed() -> [Served] {
    let found = (0..<Self.threadLimit).compactMap { thread -> Served? in
      let word = Self.servedWord + thread * Self.servedWords
      let entry = memory.load(word + 1)
      memory.store(word + 1, 0)
      if entry >> 32 == 0 { return nil }
      return Served(
        operation: UInt32(truncatingIfNeeded: entry), node: memory.load(word),
        isUnderWay: entry >> 32 == 1)
    }
    return found.filter(\.isUnderWay) + found.filter { !$0.isUnderWay }
  }
}
