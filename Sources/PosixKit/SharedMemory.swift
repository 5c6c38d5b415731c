internal import CLinux
internal import Glibc

/// A file's bytes in memory, shared with every process that maps it.
///
/// The address never changes, and the mapping ends with the last reference. Other processes change the bytes at any time:
/// users read and write them as `LiveMapBlocks` does, so that a torn or late read does no harm. That makes it Sendable.
package final class SharedMemory: @unchecked Sendable {
  /// The users of a mapping agree on what may change when.
  package let bytes: UnsafeMutableRawBufferPointer

  /// Maps the first `size` bytes of `file`, for reading, and for writing where `writable`.
  package init(_ file: borrowing FileDescriptor, size: Int, writable: Bool) throws(PosixError) {
    let protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
    let address = mmap(nil, size, protection, MAP_SHARED, file.rawValue, 0)
    guard let address, address != MAP_FAILED else { throw .last("map") }
    bytes = UnsafeMutableRawBufferPointer(start: address, count: size)
  }

  deinit { munmap(bytes.baseAddress, bytes.count) }
}

extension SharedMemory {
  /// The 64-bit word number `index`, seeing all that its writer had written before `store` of it.
  package func load(_ index: Int) -> UInt64 { podcastfs_load_acquire(word(index)) }

  /// Changes a word. A `load` of it sees all that this thread wrote before.
  package func store(_ index: Int, _ value: UInt64) { podcastfs_store_release(word(index), value) }

  /// From here on a fault that ends this program leaves its signal's number in the word. The memory must stay mapped.
  package func noteFaults(_ index: Int) { podcastfs_note_faults(word(index)) }

  private func word(_ index: Int) -> UnsafeMutablePointer<UInt64> {
    precondition(index >= 0 && (index + 1) * 8 <= bytes.count, "word \(index) is outside of the mapping")
    return bytes.baseAddress!.assumingMemoryBound(to: UInt64.self) + index
  }
}
