internal import PodcastTree
internal import PosixKit

/// What is open, by the numbers that the kernel carries for us.
final class HandleTable: Sendable {
  struct File: Sendable {
    var node: NodeID
    var file: any OpenFile
  }
  private struct State {
    var next: UInt64 = 1
    var files: [UInt64: File] = [:]
    var directories: [UInt64: OpenDirectory] = [:]
  }
  private let state = Monitor(State())

  func add(_ file: File) -> UInt64 {
    state.withLock { state in
      defer { state.next += 1 }
      state.files[state.next] = file
      return state.next
    }
  }

  func add(_ directory: OpenDirectory) -> UInt64 {
    state.withLock { state in
      defer { state.next += 1 }
      state.directories[state.next] = directory
      return state.next
    }
  }

  func file(_ handle: UInt64) -> File? { state.withLock { $0.files[handle] } }
  func directory(_ handle: UInt64) -> OpenDirectory? { state.withLock { $0.directories[handle] } }
  func removeFile(_ handle: UInt64) -> File? { state.withLock { $0.files.removeValue(forKey: handle) } }
  func removeDirectory(_ handle: UInt64) { state.withLock { _ = $0.directories.removeValue(forKey: handle) } }
  var count: Int { state.withLock { $0.files.count + $0.directories.count } }
}
