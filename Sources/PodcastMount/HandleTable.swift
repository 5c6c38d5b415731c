internal import MountHandover
internal import PodcastTree
internal import PosixKit

/// What is open, by the numbers that the kernel carries for us.
final class HandleTable: Sendable {
  /// How a file was opened: what the next process needs to open it again.
  struct Opening: Sendable {
    let node: NodeID
    let caller: Caller
    let writes: Bool

    init(_ node: NodeID, _ caller: Caller, writes: Bool) {
      (self.node, self.caller, self.writes) = (node, caller, writes)
    }

    /// Reads what `values` wrote: the handle's number; node; user and thread; flags and generation.
    init(_ values: [UInt64]) {
      node = NodeID(rawValue: values[1])
      caller = Caller(
        user: UInt32(truncatingIfNeeded: values[2] >> 32), thread: Int32(truncatingIfNeeded: values[2]),
        sniffs: values[3] & 1 != 0, resumes: UInt32(truncatingIfNeeded: values[3] >> 32))
      writes = values[3] & 2 != 0
    }

    func values(_ number: UInt64, _ generation: UInt32) -> [UInt64] {
      let flags = UInt64(generation) << 32 | (caller.sniffs ? 1 : 0) | (writes ? 2 : 0)
      let who = UInt64(caller.user) << 32 | UInt64(UInt32(bitPattern: caller.thread))
      return [number, node.rawValue, who, flags]
    }
  }
  private enum Entry {
    case file(any OpenFile)
    case directory(OpenDirectory)
    /// A process before had it open. It is opened again when it is next asked for.
    case inherited(Opening)
  }
  private struct State {
    var next: UInt64 = 1
    /// With each file's place in the mount's memory.
    var entries: [UInt64: (what: Entry, record: Int?)] = [:]
  }
  private let state: Monitor<State>
  private let memory: HandoverMemory?

  init(memory: HandoverMemory?) {
    self.memory = memory
    var state = State()
    for record in memory?.records ?? [] {
      state.entries[record.values[0]] = (.inherited(Opening(record.values)), record.index)
    }
    if let memory { state.next = max(1, memory[.nextHandle]) }
    self.state = Monitor(state)
  }

  func add(_ file: any OpenFile, _ opening: Opening) -> UInt64 {
    let number = takeNumber()
    let record = memory?.add(opening.values(number, file.generation))
    state.withLock { $0.entries[number] = (.file(file), record) }
    return number
  }

  func add(_ directory: OpenDirectory) -> UInt64 {
    let number = takeNumber()
    put(directory, number)
    return number
  }

  /// - Parameter handle: a new one, or that of a process before, which leaves no record of directories.
  func put(_ directory: OpenDirectory, _ handle: UInt64) {
    state.withLock { $0.entries[handle] = (.directory(directory), nil) }
  }

  func takeNumber() -> UInt64 {
    state.withLock { state in
      state.next += 1
      memory?[.nextHandle] = state.next
      return state.next - 1
    }
  }

  private subscript(handle: UInt64) -> Entry? { state.withLock { $0.entries[handle]?.what } }

  func file(_ handle: UInt64) -> (any OpenFile)? {
    if case .file(let file)? = self[handle] { file } else { nil }
  }

  func directory(_ handle: UInt64) -> OpenDirectory? {
    if case .directory(let directory)? = self[handle] { directory } else { nil }
  }

  /// - Returns: the open file, to be closed; nil for a directory.
  @discardableResult
  func remove(_ handle: UInt64) -> (any OpenFile)? {
    let entry = state.withLock { $0.entries.removeValue(forKey: handle) }
    if let record = entry?.record { memory?.remove(record) }
    return if case .file(let file)? = entry?.what { file } else { nil }
  }

  var count: Int { state.withLock { $0.entries.count } }

  /// How a file was opened that has not been opened again.
  func inherited(_ handle: UInt64) -> Opening? {
    if case .inherited(let opening)? = self[handle] { opening } else { nil }
  }

  var inheritedFiles: [UInt64] {
    state.withLock { state in
      state.entries.filter { if case .inherited = $0.value.what { true } else { false } }.keys.sorted()
    }
  }

  /// - Returns: false where it was closed meanwhile, or another request has opened it first.
  func restore(_ handle: UInt64, _ file: any OpenFile) -> Bool {
    state.withLock { state in
      guard case .inherited? = state.entries[handle]?.what else { return false }
      state.entries[handle]?.what = .file(file)
      return true
    }
  }
}
