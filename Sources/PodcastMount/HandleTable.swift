internal import MountHandover
internal import PodcastTree
internal import PosixKit

/// What is open, by the numbers that the kernel carries for us; also what a process that served before had open: that is
/// opened again when it is next asked for.
final class HandleTable: Sendable {
  struct File: Sendable {
    var node: NodeID
    var file: any OpenFile
  }
  /// How something was opened.
  struct Opening: Sendable {
    var node: NodeID
    /// Who has opened it.
    var user: UInt32
    var thread: Int32
    /// Whether it was opened with O_NOATIME.
    var sniffs = false
    /// Whether it was opened to be written: what had come of it is lost.
    var writes = false
    /// The kernel's number of the request.
    var request: UInt64 = 0
    /// See `OpenFile.generation`.
    var generation: UInt32 = 0
  }
  private struct State {
    var next: UInt64 = 1
    var files: [UInt64: File] = [:]
    var directories: [UInt64: OpenDirectory] = [:]
    /// What is being written.
    var writers: Set<UInt64> = []
    /// Where each is in the mount's memory.
    var records: [UInt64: Int] = [:]
    /// What a process before had open, and has not been opened again.
    var inheritedFiles: [UInt64: Opening] = [:]
    var inheritedDirectories: [UInt64: NodeID] = [:]
    /// Of these, by the numbers of the requests that opened them.
    var requests: [UInt64: UInt64] = [:]
  }
  private let state: Monitor<State>
  private let memory: HandoverMemory?

  /// - Parameter records: what a process before has left in the memory.
  init(memory: HandoverMemory?, _ records: [HandoverMemory.Record]) {
    self.memory = memory
    var state = State()
    for record in records {
      switch record.kind {
      case .openFile: Self.inherit(file: record, &state)
      case .openDirectory: Self.inherit(directory: record, &state)
      default: continue
      }
    }
    if let memory { state.next = max(1, memory[.nextHandle]) }
    self.state = Monitor(state)
  }

  /// Number, node, user and thread, whether it sniffs and writes and its generation, request.
  private static func inherit(file record: HandoverMemory.Record, _ state: inout State) {
    let number = record.values[0]
    state.inheritedFiles[number] = Opening(
      node: NodeID(rawValue: record.values[1]), user: UInt32(truncatingIfNeeded: record.values[2] >> 32),
      thread: Int32(truncatingIfNeeded: record.values[2]), sniffs: record.values[3] & 1 != 0,
      writes: record.values[3] & 2 != 0, request: record.values[4],
      generation: UInt32(truncatingIfNeeded: record.values[3] >> 32))
    state.requests[record.values[4]] = number
    state.records[number] = record.index
  }

  /// Number, node, request.
  private static func inherit(directory record: HandoverMemory.Record, _ state: inout State) {
    let number = record.values[0]
    state.inheritedDirectories[number] = NodeID(rawValue: record.values[1])
    state.requests[record.values[2]] = number
    state.records[number] = record.index
  }

  /// - Returns: its number.
  func add(_ file: any OpenFile, _ opening: Opening) -> UInt64 {
    state.withLock { state in
      let number = takeNumber(&state)
      state.files[number] = File(node: opening.node, file: file)
      if opening.writes { state.writers.insert(number) }
      let flags = UInt64(file.generation) << 32 | (opening.sniffs ? 1 : 0) | (opening.writes ? 2 : 0)
      let caller = UInt64(opening.user) << 32 | UInt64(UInt32(bitPattern: opening.thread))
      state.records[number] = memory?.add(
        .openFile, [number, opening.node.rawValue, caller, flags, opening.request])
      return number
    }
  }

  /// A number that nothing has.
  func takeNumber() -> UInt64 { state.withLock { takeNumber(&$0) } }

  func add(_ directory: OpenDirectory, request: UInt64) -> UInt64 {
    state.withLock { state in
      let number = takeNumber(&state)
      state.directories[number] = directory
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

  func file(_ handle: UInt64) -> File? { state.withLock { $0.files[handle] } }
  func directory(_ handle: UInt64) -> OpenDirectory? { state.withLock { $0.directories[handle] } }

  func removeFile(_ handle: UInt64) -> File? {
    let (file, record) = state.withLockNotifying { state in
      state.inheritedFiles[handle] = nil
      state.writers.remove(handle)
      return (state.files.removeValue(forKey: handle), state.records.removeValue(forKey: handle))
    }
    if let record { memory?.remove(record) }
    return file
  }

  func removeDirectory(_ handle: UInt64) {
    let record = state.withLock { state in
      state.inheritedDirectories[handle] = nil
      state.directories[handle] = nil
      return state.records.removeValue(forKey: handle)
    }
    if let record { memory?.remove(record) }
  }

  /// Waits until nothing is being written.
  func waitForWriters(until deadline: MonotonicTime) {
    _ = state.wait(until: deadline) { $0.writers.isEmpty ? true : nil }
  }

  var count: Int { state.withLock { $0.files.count + $0.directories.count } }

  // MARK: What a process before had open

  /// How a file was opened that has not been opened again.
  func inheritedFile(_ handle: UInt64) -> Opening? { state.withLock { $0.inheritedFiles[handle] } }
  func inheritedDirectory(_ handle: UInt64) -> NodeID? { state.withLock { $0.inheritedDirectories[handle] } }
  var inheritedFiles: [UInt64] { state.withLock { $0.inheritedFiles.keys.sorted() } }

  /// It has been opened again.
  /// - Returns: false where it has been closed meanwhile, or somebody else was first.
  func restore(_ handle: UInt64, _ file: any OpenFile) -> Bool {
    state.withLock { state in
      guard let opening = state.inheritedFiles.removeValue(forKey: handle) else { return false }
      state.files[handle] = File(node: opening.node, file: file)
      return true
    }
  }

  func restore(_ handle: UInt64, _ directory: OpenDirectory) {
    state.withLock { state in
      if state.inheritedDirectories.removeValue(forKey: handle) != nil {
        state.directories[handle] = directory
      }
    }
  }

  /// Closes what the previous process opened for a request: the kernel sends the request again, because that answer
  /// never reached the caller. This process may have opened the file again by now.
  func forgetAnswer(to request: UInt64) {
    guard let handle = state.withLock({ $0.requests.removeValue(forKey: request) }) else { return }
    removeFile(handle)?.file.close()
    removeDirectory(handle)
  }
}
