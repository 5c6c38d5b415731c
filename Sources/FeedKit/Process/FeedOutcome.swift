internal import PosixKit

/// What a parser's process made of a feed: the episodes, one by one while the rest is still parsed, then the whole.
typealias FeedOutcome<Item> = Result<(feed: ParsedFeed, items: [Item]), FeedError>
/// What it made of a list of subscriptions.
typealias ListOutcome = Result<OPMLDocument, FeedError>

/// The parts of what the process writes. Before each stands its number.
private enum FeedPart: UInt64 {
  case episode, restart, feed, list, notAFeed, notAList, tooLarge, storage, other
}

/// At the file's start: another program's file is not taken for one.
private let mark: UInt64 = 0x706f_6466
/// At its end: a file that was cut short is noticed.
private let end: UInt64 = 0x656e_64

extension FeedOutcome {
  /// Reads what the parser's process writes, while it does.
  /// - Parameters:
  ///   - progress: of that process; nil where it has ended.
  ///   - notesInMemory: bytes of all show notes that are kept in memory; the rest stays in the file.
  ///   - make: what becomes of an episode.
  init<Item>(
    from file: TextFile, progress: HelperProgress?, notesInMemory: Int,
    _ make: (consuming ParsedEpisode) -> Item?
  ) throws(RecordReader.Damaged) where Success == (feed: ParsedFeed, items: [Item]), Failure == FeedError {
    var record = try RecordReader(beginning: file, progress: progress)
    var items: [Item] = []
    var room = notesInMemory
    var part = try FeedPart(&record)
    while part == .episode || part == .restart {
      if part == .episode {
        if let item = make(try ParsedEpisode(from: &record, room: &room)) { items.append(item) }
      } else {
        items = []
        room = notesInMemory
      }
      part = try FeedPart(&record)
    }
    if part == .feed {
      self = .success((try ParsedFeed(from: &record), items))
    } else {
      self = .failure(try FeedError(part, &record))
    }
    guard try record.number() == end else { throw RecordReader.Damaged() }
  }
}

extension ListOutcome {
  /// Reads the same for a list.
  init(from file: TextFile, progress: HelperProgress?) throws(RecordReader.Damaged) {
    var record = try RecordReader(beginning: file, progress: progress)
    let part = try FeedPart(&record)
    if part == .list {
      self = .success(try OPMLDocument(from: &record))
    } else {
      self = .failure(try FeedError(part, &record))
    }
    guard try record.number() == end else { throw RecordReader.Damaged() }
  }
}

extension RecordReader {
  fileprivate init(beginning file: TextFile, progress: HelperProgress?) throws(Damaged) {
    try self.init(file, progress: progress)
    guard try number() == mark else { throw Damaged() }
  }
}

extension FeedPart {
  fileprivate init(_ record: inout RecordReader) throws(RecordReader.Damaged) {
    guard let part = FeedPart(rawValue: try record.number()) else { throw RecordReader.Damaged() }
    self = part
  }
}

extension FeedError {
  fileprivate init(_ part: FeedPart, _ record: inout RecordReader) throws(RecordReader.Damaged) {
    switch part {
    case .notAFeed: self = .notAFeed(try ForeignDocument(from: &record))
    case .notAList: self = .notAList(try ForeignDocument(from: &record))
    case .tooLarge: self = .tooLarge(limit: Int(clamping: try record.number()))
    case .storage:
      let errno = Errno(rawValue: Int32(clamping: try record.signed()))
      let operation = try record.text()
      self = .storage(PosixError(errno, operation, try record.optionalText()))
    case .other: self = .outOfMemory
    case .episode, .restart, .feed, .list: throw RecordReader.Damaged()
    }
  }

  fileprivate func write(to record: inout RecordWriter) throws(PosixError) {
    switch self {
    case .notAFeed(let found):
      record.write(FeedPart.notAFeed.rawValue)
      try found.write(to: &record)
    case .notAList(let found):
      record.write(FeedPart.notAList.rawValue)
      try found.write(to: &record)
    case .tooLarge(let limit):
      record.write(FeedPart.tooLarge.rawValue)
      record.write(UInt64(limit))
    case .storage(let error):
      record.write(FeedPart.storage.rawValue)
      record.write(Int64(error.errno.rawValue))
      record.write(error.operation)
      record.write(error.subject) { $0.write($1) }
    case .outOfMemory, .damagedCompression, .incomplete, .parserEnded, .tooSlow:
      record.write(FeedPart.other.rawValue)
    }
  }
}

/// Writes what a parser's process has made, and tells the process that reads it.
final class FeedOutcomeWriter {
  @exclusivity(unchecked) private var record: RecordWriter
  /// Why it can't be written.
  private var failure: PosixError?

  init(descriptor: Int32) {
    record = RecordWriter(descriptor: descriptor)
    record.write(mark)
  }

  /// Writes the episodes as they come.
  var episodes: EpisodeReceiver {
    EpisodeReceiver(take: { self.write($0) }, restart: { self.record.write(FeedPart.restart.rawValue) })
  }

  private func write(_ episode: ParsedEpisode) {
    if failure != nil { return }
    let pieces = record.pieces
    do throws(PosixError) {
      record.write(FeedPart.episode.rawValue)
      try episode.write(to: &record)
      try record.flushPiece()
      if record.pieces != pieces { HelperProgress.tell() }
    } catch {
      failure = error
    }
  }

  /// - Parameter feed: the feed without its episodes, which have gone before; or what is wrong with it.
  func finish(_ feed: Result<ParsedFeed, FeedError>) throws(PosixError) {
    try finish(feed, .feed) { (feed, record) throws(PosixError) in try feed.write(to: &record) }
  }

  func finish(_ list: Result<OPMLDocument, FeedError>) throws(PosixError) {
    try finish(list, .list) { (list, record) throws(PosixError) in try list.write(to: &record) }
  }

  private func finish<Value>(
    _ outcome: Result<Value, FeedError>, _ part: FeedPart,
    _ write: (Value, inout RecordWriter) throws(PosixError) -> Void
  ) throws(PosixError) {
    if let failure { throw failure }
    switch outcome {
    case .success(let value):
      record.write(part.rawValue)
      try write(value, &record)
    case .failure(let error): try error.write(to: &record)
    }
    record.write(end)
    try record.flush()
  }
}
