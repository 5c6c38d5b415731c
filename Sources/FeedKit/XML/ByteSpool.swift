internal import PosixKit

/// Keeps bytes that may be needed once more: the first of them in memory, the rest in a temporary file that
/// has no name.
final class ByteSpool {
  private static let memoryLimit = 1 << 20

  private var memory: [UInt8] = []
  private var file: File?
  private var fileCount = 0

  var count: Int { memory.count + fileCount }

  /// - Throws: `PosixError` where the temporary file cannot be written.
  func append(_ bytes: UnsafeRawBufferPointer) throws(PosixError) {
    if file == nil {
      if memory.count + bytes.count <= Self.memoryLimit {
        memory.append(contentsOf: bytes)
        return
      }
      file = File(descriptor: try FileDescriptor.temporary())
    }
    try file?.descriptor.append(bytes)
    fileCount += bytes.count
  }

  /// Hands over all bytes from the first on, in pieces of up to 64 KiB.
  func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Void) throws(PosixError) {
    var start = 0
    while start < memory.count {
      let end = min(start + 65_536, memory.count)
      memory.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
      start = end
    }
    guard let descriptor = file?.descriptor.rawValue else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count = try preadFully(descriptor, into: buffer, at: offset)
      if count == 0 { return }
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }

  private final class File {
    let descriptor: FileDescriptor

    init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
  }
}
