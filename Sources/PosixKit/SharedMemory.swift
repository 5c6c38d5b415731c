internal import Glibc

/// A file's bytes in memory, shared with every process that maps it.
///
/// The address never changes, and the mapping ends with the last reference. Other processes change the bytes beside us
/// in any case: who maps it reads and writes them as `LiveMapBlocks` does, so that a torn or late look does no harm.
/// That makes it Sendable.
package final class SharedMemory: @unchecked Sendable {
  /// Readers and the writer agree among themselves on what may change when (see who maps it).
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
