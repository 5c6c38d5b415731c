internal import PosixKit

/// Memory for a piece of a body. The loop fills each byte once, and hands out only ranges that it has filled, which
/// nobody changes any more; the memory goes back with the last reference: that makes it Sendable.
final class Chunk: @unchecked Sendable {
  /// 128 KiB: less would make many pieces of a write, more would lie about half empty where many come slowly.
  static let size = 128 << 10

  private let memory: Memory

  init() { memory = Self.spare.take() }

  deinit { Self.spare.give(memory) }

  func fill(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    UnsafeMutableRawBufferPointer(rebasing: memory.bytes[offset..<offset + bytes.count]).copyMemory(
      from: bytes)
  }

  func read(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[range])
  }

  static let spare = SpareChunks()
}

/// A block that a chunk, or the spare ones under their lock, owns alone: that makes it Sendable.
struct Memory: @unchecked Sendable { let bytes: UnsafeMutableRawBufferPointer }

/// Chunks' memory that is not in use: fresh pages cost the kernel more than writing does.
final class SpareChunks: Sendable {
  private struct State: ~Copyable {
    var free: [Memory] = []
    var most = 0
  }
  private let state = Monitor(State())

  /// 2 MiB at the most lie idle.
  private static let most = 16

  func take() -> Memory {
    state.withLock { $0.free.popLast() } ?? Memory(bytes: .allocate(byteCount: Chunk.size, alignment: 4096))
  }

  func give(_ memory: Memory) {
    let isWanted = state.withLock { state in
      guard state.free.count < state.most else { return false }
      state.free.append(memory)
      return true
    }
    if !isWanted { memory.bytes.deallocate() }
  }

  /// Keeps some while bytes come, and none else.
  func setNeeded(_ isNeeded: Bool) {
    let free = state.withLock { state in
      state.most = isNeeded ? Self.most : 0
      defer { if !isNeeded { state.free = [] } }
      return isNeeded ? [] : state.free
    }
    for memory in free { memory.bytes.deallocate() }
  }
}
