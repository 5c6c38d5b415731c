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
  private enum Entry {
    case file(any OpenFile)
    case directory(OpenDirectory)
    /// A process before had it open. It is opened again when it is next asked for.
    case inheritedFile(Opening)
    case inheritedDirectory(NodeID)
  }
  private struct State {
    var next: UInt64 = 1
    var entries: [UInt64: Entry] = [:]
    /// Where each is in the mount's memory.
    var records: [UInt64: Int] = [:]
    /// What was inherited, by the numbers of the requests that opened it.
    var requests: [UInt64: UInt64] = [:]
  }
  private let state: Monitor<State>
  private let memory: HandoverMemory?

  /// - Parameter records: those of the process before.
  init(memory: HandoverMemory?, _ records: [HandoverMemory.Record]) {
    self.memory = memory
    var state = State()
    for record in records {
      let number = record.values[0]
      switch record.kind {
      case .openFile:
        let opening = Opening(record)
        state.entries[number] = .inheritedFile(opening)
        state.requests[opening.request] = number
      case .openDirectory:
        state.entries[number] = .inheritedDirectory(NodeID(rawValue: record.values[1]))
        state.requests[record.values[2]] = number
      default: continue
      }
      state.records[number] = record.index
    }
    if let memory { state.next = max(1, memory[.nextHandle]) }
    self.state = Monitor(state)
  }

  func add(_ file: any OpenFile, _ opening: Opening) -> UInt64 {
    let number = takeNumber()
    put(
      .file(file), number,
      memory?.add(.openFile, opening.values(number, file.generation)))
    return number
  }

  func add(_ directory: OpenDirectory, request: UInt64) -> UInt64 {
    let number = takeNumber()
    let values = [number, directory.node.rawValue, request]
    put(.directory(directory), number, memory?.add(.openDirectory, values))
    return number
  }

  private func put(_ entry: Entry, _ number: UInt64, _ record: Int?) {
    state.withLock { state in
      state.entries[number] = entry
      state.records[number] = record
    }
  }

  func takeNumber() -> UInt64 {
    state.withLock { state in
      state.next += 1
      memory?[.nextHandle] = state.next
      return state.next - 1
    }
  }

  private subscript(handle: UInt64) -> Entry? { state.withLock { $0.entries[handle] } }

  func file(_ handle: UInt64) -> (any OpenFile)? {
    if case .file(let file)? = self[handle] { file } else { nil }
  }

  func directory(_ handle: UInt64) -> OpenDirectory? {
    if case .directory(let directory)? = self[handle] { directory } else { nil }
  }

  /// - Returns: the open file, to be closed; nil for a directory.
  @discardableResult
  func remove(_ handle: UInt64) -> (any OpenFile)? {
    let (entry, record) = state.withLock { state in
      (state.entries.removeValue(forKey: handle), state.records.removeValue(forKey: handle))
    }
    if let record { memory?.remove(record) }
    if case .file(let file)? = entry { return file }
    return nil
  }

  var count: Int { state.withLock { $0.entries.count } }

  // MARK: What a process before had open

  /// How a file was opened that has not been opened again.
  func inheritedFile(_ handle: UInt64) -> Opening? {
    if case .inheritedFile(let opening)? = self[handle] { opening } else { nil }
  }

  func inheritedDirectory(_ handle: UInt64) -> NodeID? {
    if case .inheritedDirectory(let node)? = self[handle] { node } else { nil }
  }

  var inheritedFiles: [UInt64] {
    state.withLock { state in
      state.entries.filter { if case .inheritedFile = $0.value { true } else { false } }.keys.sorted()
    }
  }

  /// It has been opened again.
  /// - Returns: false where it was closed meanwhile, or another request has opened it first.
  func restore(_ handle: UInt64, _ file: any OpenFile) -> Bool {
    state.withLock { state in
      guard case .inheritedFile? = state.entries[handle] else { return false }
      state.entries[handle] = .file(file)
      return true
    }
  }

  func restore(_ handle: UInt64, _ directory: OpenDirectory) {
    state.withLock { state in
      if case .inheritedDirectory? = state.entries[handle] { state.entries[handle] = .directory(directory) }
    }
  }

  /// Closes what the previous process opened for a request: the kernel sends the request again, because that answer
  /// never reached the caller. This process may have opened the file again by now.
  func forgetAnswer(to request: UInt64) {
    if let handle = state.withLock({ $0.requests.removeValue(forKey: request) }) { remove(handle)?.close() }
  }
}
