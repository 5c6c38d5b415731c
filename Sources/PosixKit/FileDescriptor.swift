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
    rawValue = try retrying("open", path) { Glibc.open(path, flags | O_CLOEXEC, mode) }
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
    try bytes.withUnsafeBufferPointer { bytes throws(PosixError) in
      try write(UnsafeRawBufferPointer(bytes), at: offset)
    }
  }

  /// write(2) of all bytes at the file's own position.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(PosixError) { try writeFully(rawValue, bytes) }

  package func synchronize() throws(PosixError) {
    try retrying("synchronize") { fdatasync(rawValue) }
  }

  package func truncate(to size: Int64) throws(PosixError) {
    try retrying("resize") { ftruncate(rawValue, off_t(size)) }
  }

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

extension FileDescriptor {
  /// open(2) of a file of our own: never waits (a fifo in its place would), follows no symbolic link in its last
  /// part, and is a regular file or fails with EINVAL.
  package init(
    openingRegular path: String, _ flags: Int32, mode: UInt32 = 0o600
  ) throws(PosixError) {
    let opened = try FileDescriptor(opening: path, flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, mode: mode)
    let status = try opened.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PosixError(.EINVAL, "open (not a regular file)", path)
    }
    self = opened
  }
}

extension FileDescriptor {
  /// What follows the file's own position, at most `limit` bytes.
  package func readToEnd(limit: Int = 16 << 20) throws(PosixError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let piece = try withUnsafeTemporaryAllocation(byteCount: min(65_536, limit - bytes.count), alignment: 8)
      {
        buffer in
        Result { () throws(PosixError) in
          let count = try retrying("read") { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
          bytes += buffer[..<count]
          return count
        }
      }.get()
      if piece == 0 { break }
    }
    return bytes
  }
}

extension Directories {
  package static func read(_ path: String, limit: Int = 16 << 20) throws(PosixError) -> [UInt8] {
    do { return try FileDescriptor(opening: path, O_RDONLY).readToEnd(limit: limit) } catch {
      throw PosixError(error.errno, error.operation, path)
    }
  }

  /// The same of a file of our own; see `FileDescriptor.init(openingRegular:_:mode:)`.
  package static func readRegular(_ path: String, limit: Int = 16 << 20) throws(PosixError) -> [UInt8] {
    try FileDescriptor(openingRegular: path, O_RDONLY).readToEnd(limit: limit)
  }
}

extension FileDescriptor {
  /// A file that is only in memory and has no name in any directory: memfd_create(2).
  /// - Parameter name: for proc(5).
  package static func inMemory(_ name: String) throws(PosixError) -> FileDescriptor {
    // MFD_CLOEXEC
    FileDescriptor(owning: try retrying("create a file in memory") { memfd_create(name, 1) })
  }
}

/// Two ends of a pipe, close-on-exec: pipe(7).
package struct Pipe: ~Copyable, Sendable {
  package let reader: FileDescriptor
  package let writer: FileDescriptor

  package init() throws(PosixError) {
    var ends: [Int32] = [-1, -1]
    try retrying("create a pipe") { pipe2(&ends, O_CLOEXEC) }
    reader = FileDescriptor(owning: ends[0])
    writer = FileDescriptor(owning: ends[1])
  }

  /// The reading end; the writing end closes.
  package consuming func takeReader() -> FileDescriptor { reader }
}
