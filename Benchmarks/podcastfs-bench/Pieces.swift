internal import PosixKit

/// A file as a network hands it over.
enum Pieces {
  static func forEach(
    of file: borrowing FileDescriptor, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 8)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { return }
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }
}
