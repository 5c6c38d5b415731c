internal import FuseKit
internal import MountHandover
internal import PodcastTree
internal import PosixKit

/// What is open, by the numbers that the kernel carries for us.
final class HandleTable: Sendable {
  /// How a file was opened: what the next process needs to open it again.
  struct Opening: Sendable {
    var node: NodeID
    var user: UInt32
    var thread: Int32
    /// Whether it was opened with O_NOATIME.
    var sniffs = false
    var writes = false
    /// The kernel's number of the request.
    var request: UInt64 = 0
    /// See `OpenFile.generation`.
    var generation: UInt32 = 0

    init(_ node: NodeID, _ caller: FuseCaller, sniffs: Bool = false, writes: Bool) {
      (self.node, self.sniffs, self.writes) = (node, sniffs, writes)
      (user, thread, request) = (caller.user, caller.thread, caller.request)
    }

    /// Reads the values of a record: number; node; user and thread; flags and generation; request.
    init(_ record: HandoverMemory.Record) {
      let values = record.values
      node = NodeID(rawValue: values[1])
      (user, thread) = (UInt32(truncatingIfNeeded: values[2] >> 32), Int32(truncatingIfNeeded: values[2]))
      (sniffs, writes) = (values[3] & 1 != 0, values[3] & 2 != 0)
      (request, generation) = (values[4], UInt32(truncatingIfNeeded: values[3] >> 32))
    }

    func values(_ number: UInt64, _ generation: UInt32) -> [UInt64] {
      let flags = UInt64(generation) << 32 | (sniffs ? 1 : 0) | (writes ? 2 : 0)
      let caller = UInt64(user) << 32 | UInt64(UInt32(bitPattern: thread))
      return [number, node.rawValue, caller, flags, request]
    }
  }
  private enum File {
    case open(any OpenFile, writes: Bool)
    /// A process before had it open. It is opened again when it is next asked for.
    case inherited(Opening)
  }
  private enum Directory {
    case open(OpenDirectory)
    case inherited(NodeID)
  }
  private struct State {
    var next: UInt64 = 1
    var files: [UInt64: File] = [:]
    var directories: [UInt64: Directory] = [:]
    /// Where each is in the mount's memory.
    var records: [UInt64: Int] = [:]
    /// What was inherited, by the numbers of the requests that opened it.
    var requests: [UInt64: UInt64] = [:]
  }
  private let state: Monitor<State>
  private let memory: HandoverMemory?

  /// - Parameter records: what a process before has left in the memory.
  init(memory: HandoverMemory?, _ records: [HandoverMemory.Record]) {
    self.memory = memory
    var state = State()
    for record in records {
      let number = record.values[0]
      switch record.kind {
      case .openFile:
        let opening = Opening(record)
        state.files[number] = .inherited(opening)
        state.requests[opening.request] = number
      case .openDirectory:
        state.directories[number] = .inherited(NodeID(rawValue: record.values[1]))
        state.requests[record.values[2]] = number
      default: continue
      }
      state.records[number] = record.index
    }
    if let memory { state.next = max(1, memory[.nextHandle]) }
    self.state = Monitor(state)
  }

  /// - Returns: its number.
  func add(_ file: any OpenFile, _ opening: Opening) -> UInt64 {
    let generation = file.generation
    return state.withLock { state in
      let number = takeNumber(&state)
      state.files[number] = .open(file, writes: opening.writes)
      state.records[number] = memory?.add(.openFile, opening.values(number, generation))
      return number
    }
  }

  /// A number that nothing has.
  func takeNumber() -> UInt64 { state.withLock { takeNumber(&$0) } }

  func add(_ directory: OpenDirectory, request: UInt64) -> UInt64 {
    state.withLock { state in
      let number = takeNumber(&state)
      state.directories[number] = .open(directory)
      state.records[number] = memory?.add(.openDirectory, [number, directory.node.rawValue, request])
      return number
    }
  }

  private func takeNumber(_ state: inout State) -> UInt64 {
    defer {
      state.next += 1
      memory?[.nextHandle] = state.next
    }
    return state.next
  }

  func file(_ handle: UInt64) -> (any OpenFile)? {
    state.withLock { if case .open(let file, _)? = $0.files[handle] { file } else { nil } }
  }

  func directory(_ handle: UInt64) -> OpenDirectory? {
    state.withLock { if case .open(let directory)? = $0.directories[handle] { directory } else { nil } }
  }

  /// - Returns: what was open, to be closed.
  func removeFile(_ handle: UInt64) -> (any OpenFile)? {
    let (file, record) = state.withLockNotifying { state in
      (state.files.removeValue(forKey: handle), state.records.removeValue(forKey: handle))
    }
    if let record { memory?.remove(record) }
    if case .open(let file, _)? = file { return file }
    return nil
  }

  func removeDirectory(_ handle: UInt64) {
    let record = state.withLock { state in
      state.directories[handle] = nil
      return state.records.removeValue(forKey: handle)
    }
    if let record { memory?.remove(record) }
  }

  /// Waits until nothing is being written.
  func waitForWriters(until deadline: MonotonicTime) {
    _ = state.wait(until: deadline) { state in
      state.files.values.contains { if case .open(_, writes: true) = $0 { true } else { false } } ? nil : true
    }
  }

  var count: Int { state.withLock { $0.files.count + $0.directories.count } }

  // MARK: What a process before had open

  /// How a file was opened that has not been opened again.
  func inheritedFile(_ handle: UInt64) -> Opening? {
    state.withLock { if case .inherited(let opening)? = $0.files[handle] { opening } else { nil } }
  }

  func inheritedDirectory(_ handle: UInt64) -> NodeID? {
    state.withLock { if case .inherited(let node)? = $0.directories[handle] { node } else { nil } }
  }

  var inheritedFiles: [UInt64] {
    state.withLock { state in
      state.files.filter { if case .inherited = $0.value { true } else { false } }.keys.sorted()
    }
  }

  /// It has been opened again.
  /// - Returns: false where it was closed meanwhile, or another request has opened it first.
  func restore(_ handle: UInt64, _ file: any OpenFile) -> Bool {
    state.withLock { state in
      guard case .inherited(let opening)? = state.files[handle] else { return false }
      state.files[handle] = .open(file, writes: opening.writes)
      return true
    }
  }

  func restore(_ handle: UInt64, _ directory: OpenDirectory) {
    state.withLock { state in
      if case .inherited? = state.directories[handle] { state.directories[handle] = .open(directory) }
    }
  }

  /// Closes what the previous process opened for a request: the kernel sends the request again, because that answer
  /// never reached the caller. This process may have opened the file again by now.
  func forgetAnswer(to request: UInt64) {
    guard let handle = state.withLock({ $0.requests.removeValue(forKey: request) }) else { return }
    removeFile(handle)?.close()
    removeDirectory(handle)
  }
}
