internal import PosixKit

/// What the process that parsed has to say, as it goes to the one that asked.
enum FeedOutcome {
  case feed(ParsedFeed)
  case error(FeedError)

  /// At the file's start: another program's file is not taken for one.
  private static let mark: UInt64 = 0x706f_6466
  /// At its end: a file that was cut short is noticed.
  private static let end: UInt64 = 0x656e_64

  func write(to record: inout RecordWriter) throws(PosixError) {
    record.write(Self.mark)
    switch self {
    case .feed(let feed):
      record.write(0 as UInt64)
      try feed.write(to: &record)
    case .error(.notAFeed(let root)), .error(.notOPML(let root)):
      record.write(1 as UInt64)
      record.write(root) { $0.write($1) }
    case .error(.tooLarge(let limit)):
      record.write(2 as UInt64)
      record.write(UInt64(limit))
    case .error(.storage(let error)):
      record.write(3 as UInt64)
      record.write(Int64(error.errno.rawValue))
      record.write(error.operation)
      record.write(error.subject) { $0.write($1) }
    case .error(.outOfMemory), .error(.parserEnded), .error(.tooSlow):
      record.write(4 as UInt64)
    }
    record.write(Self.end)
    try record.flush()
  }

  init(from record: inout RecordReader, notesInMemory: Int) throws(RecordReader.Damaged) {
    guard try record.number() == Self.mark else { throw RecordReader.Damaged() }
    switch try record.number() {
    case 0: self = .feed(try ParsedFeed(from: &record, notesInMemory: notesInMemory))
    case 1:
      self = .error(
        .notAFeed(root: try record.optional { record throws(RecordReader.Damaged) in try record.text() }))
    case 2: self = .error(.tooLarge(limit: Int(clamping: try record.number())))
    case 3:
      let errno = Errno(rawValue: Int32(clamping: try record.signed()))
      let operation = try record.text()
      let subject = try record.optional { record throws(RecordReader.Damaged) in try record.text() }
      self = .error(.storage(PosixError(errno, operation, subject)))
    case 4: self = .error(.outOfMemory)
    default: throw RecordReader.Damaged()
    }
    guard try record.number() == Self.end else { throw RecordReader.Damaged() }
  }
}
