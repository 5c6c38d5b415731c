internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PosixKit

/// Has another process read a dump, and takes what it writes.
struct DumpProcess {
  /// Seconds without a message from it: the check of a database of 16 GiB on a slow disk.
  private static let patience = 900.0
  /// Bytes of the longest message.
  private static let longest = 16 << 20

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
    func end() -> Int32? {
      hasEnded = true
      kill(process, SIGKILL)
      return try? ChildProcess.wait(process)
    }
    defer { if !hasEnded { _ = end() } }
    while true {
      let deadline = MonotonicTime.after(patience)
      let message: DumpMessage? = PipedValue.read(from: output.rawValue, limit: longest, until: deadline)
      switch message {
      case .records(let records): for record in records { try body(record) }
      case .end(let count): return count
      case .refused(let reason):
        throw DirectoryError(.EINVAL, String(PrintableText.line(reason).prefix(500)))
      case nil where MonotonicTime.now >= deadline:
        throw DirectoryError(.ETIMEDOUT, "not imported: reading it takes too long")
      case nil:
        // How it has ended by itself stays.
        let signal = (end() ?? 0) - 128
        let how = signal > 0 && signal != SIGKILL ? "was ended by signal \(signal)" : "failed"
        throw DirectoryError.refused("the process that read it \(how)")
      }
    }
  }
}

/// What the process that reads a dump writes.
enum DumpMessage: BinaryValue {
  case records([DumpRecord])
  /// All records were written. So many rows cannot be used.
  case end(refused: Int)
  /// Nothing can be used: why.
  case refused(String)

  private enum Kind: UInt8, BinaryValue { case records, end, refused }

  func encode(into bytes: inout [UInt8]) {
    switch self {
    case .records(let records): bytes.put(Kind.records, records)
    case .end(let count): bytes.put(Kind.end, count)
    case .refused(let reason): bytes.put(Kind.refused, reason)
    }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .records: self = try reader.make(Self.records)
    case .end: self = try reader.make(Self.end)
    case .refused: self = try reader.make(Self.refused)
    }
  }
}
