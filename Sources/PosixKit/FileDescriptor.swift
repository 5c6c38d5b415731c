internal import CLinux
package import Glibc

/// An open file, owned: closed when the value ends.
package struct FileDescriptor: ~Copyable, Sendable {
  package let rawValue: Int32

  /// Takes over `rawValue`.
  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit { close(rawValue) }

  /// open(2), close-on-exec.
  package init(
    opening path: String, _ flags: Int32, mode: UInt32 = 0o600
  ) throws(PosixError) {
    rawValue = try retrying("open", path) { podcastfs_open(path, flags, mode) }
  }

  /// Gives the number away: the caller closes it.
  package consuming func release() -> Int32 {
    let number = rawValue
    discard self
    return number
  }

  /// pread(2): how many bytes were read, fewer only at the end of the file.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(PosixError) -> Int {
    try preadFully(rawValue, into: buffer, at: offset)
  }

  /// pwrite(2) of all bytes.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try retrying("write") { pwrite(rawValue, rest.baseAddress, rest.count, off_t(offset) + done) }
    }
  }

  /// pwritev(2) of one piece behind the other: how many bytes were written, at least one where there are any.
  package func writeSome(_ pieces: [UnsafeRawBufferPointer], at offset: Int64) throws(PosixError) -> Int {
    // IOV_MAX
    let vectors = pieces.prefix(1024).map {
      iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
    }
    return try retrying("write") { pwritev(rawValue, vectors, Int32(vectors.count), off_t(offset)) }
  }

  /// pwrite(2) of all bytes.
  package func write(_ bytes: [UInt8], at offset: Int64) throws(PosixError) {
    let result = bytes.withUnsafeBytes { buffer in
      Result { () throws(PosixError) in try write(buffer, at: offset) }
    }
    try result.get()
  }

  /// write(2) of all bytes at the file's own position.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(PosixError) { try writeFully(rawValue, bytes) }

  /// fdatasync(2).
  package func synchronize() throws(PosixError) {
    try retrying("synchronize") { fdatasync(rawValue) }
  }

  /// ftruncate(2).
  package func truncate(to size: Int64) throws(PosixError) {
    try retrying("resize") { ftruncate(rawValue, off_t(size)) }
  }

  /// fstat(2).
  package func status() throws(PosixError) -> stat {
    var result = stat()
    try retrying("inspect") { fstat(rawValue, &result) }
    return result
  }
}

/// write(2) of all bytes at the file's own position.
package func writeFully(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(PosixError) {
  var done = 0
  while done < bytes.count {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
    done += try retrying("write") { write(descriptor, rest.baseAddress, rest.count) }
  }
}

/// pread(2) until the buffer is full or the file ends.
package func preadFully(
  _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
) throws(PosixError) -> Int {
  var done = 0
  while done < buffer.count {
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
    let count = try retrying("read") { pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + done) }
    if count == 0 { break }
    done += count
  }
  return done
}
