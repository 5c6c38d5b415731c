internal import Glibc
internal import PosixKit

/// Has another process read a dump, and takes what it writes.
struct DumpProcess {
  /// Seconds without a byte from it: the check of a database of 16 GiB on a slow disk.
  private static let patience = 900.0
  /// The longest line that makes sense, in bytes.
  private static let longestLine = 16 << 10

  /// - Parameters:
  ///   - program: one that calls `DumpWorker` for its argument.
  ///   - body: called with each podcast.
  /// - Returns: how many rows could not be used.
  /// - Throws: `DirectoryError` where the dump is refused; what `body` throws.
  static func read(
    _ database: borrowing FileDescriptor, by program: String, _ body: (DumpRecord) throws -> Void
  ) throws -> Int {
    let pipe = try Pipe()
    let process = try ChildProcess.start(
      program, name: "podcastfs", [DumpWorker.argument],
      files: [database.rawValue, pipe.writer.rawValue, nil],
      isDetached: false)
    let output = pipe.takeReader()
    var hasEnded = false
    defer {
      if !hasEnded {
        kill(process, SIGKILL)
        _ = try? ChildProcess.wait(process)
      }
    }
    var lines = LineReader(descriptor: output.rawValue, longest: longestLine, patience: patience)
    var refused: Int?
    while refused == nil,
      try lines.next({ line in
        if line.starts(with: DumpWorker.end.utf8) {
          refused = Int(String(decoding: line.dropFirst(DumpWorker.end.utf8.count), as: UTF8.self))
          return
        }
        if line.starts(with: DumpWorker.failure.utf8) {
          let reason = line.dropFirst(DumpWorker.failure.utf8.count)
          throw DirectoryError(.EINVAL, String(decoding: reason.prefix(500), as: UTF8.self))
        }
        guard let record = DumpRecord(line: line) else { throw nonsense }
        try body(record)
      })
    {}
    let status = try ChildProcess.wait(process)
    hasEnded = true
    guard let refused, status == 0 else {
      throw status > 128
        ? DirectoryError.refused("the process that read it was ended by signal \(status - 128)") : nonsense
    }
    return refused
  }

  private static var nonsense: DirectoryError { .refused("the process that read it wrote nonsense") }
}

/// Lines that another process writes into a pipe.
private struct LineReader {
  let descriptor: Int32
  let longest: Int
  let patience: Double
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(descriptor: Int32, longest: Int, patience: Double) {
    (self.descriptor, self.longest, self.patience) = (descriptor, longest, patience)
  }

  /// Calls `body` with the next line.
  /// - Returns: false where there is none.
  mutating func next(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: DumpRecord.lineEnd) {
        let line = start..<end
        start = end + 1
        try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[line])) }
        return true
      }
      if isAtEnd { return false }
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      guard buffer.count <= longest else { throw DirectoryError.refused("a row of it is too long") }
      try fill()
    }
  }

  private mutating func fill() throws {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let deadline = MonotonicTime.after(patience)
    while poll(&entry, 1, deadline.pollTimeout) <= 0 {
      guard MonotonicTime.now < deadline else {
        throw DirectoryError(.ETIMEDOUT, "not imported: reading it takes too long")
      }
    }
    let before = buffer.count
    let room = 1 << 17
    buffer.append(contentsOf: repeatElement(0, count: room))
    let descriptor = descriptor
    let count = try buffer.withUnsafeMutableBytes { bytes in
      try retrying("read") { read(descriptor, bytes.baseAddress.map { $0 + before }, room) }
    }
    buffer.removeLast(room - count)
    if count == 0 { isAtEnd = true }
  }
}
