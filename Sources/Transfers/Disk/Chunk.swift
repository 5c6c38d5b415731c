/// Memory for a piece of a body. The loop fills each byte once, and hands out only ranges that it has filled, which
/// nobody changes any more; the memory goes back with the last reference: that makes it Sendable.
final class Chunk: @unchecked Sendable {
  /// 64 KiB: less would make many pieces of a write. Larger blocks than these malloc(3) would give back to the kernel each
  /// time, whose fresh pages cost more than writing does.
  static let size = 64 << 10

  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)

  deinit { memory.deallocate() }

  func fill(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + bytes.count]).copyMemory(from: bytes)
  }

  func read(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[range])
  }
}
