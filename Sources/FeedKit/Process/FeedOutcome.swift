internal import PosixKit

/// What the process that parsed has to say, as it goes to the one that asked: the episodes, one by one while the rest
/// is still parsed, then what came of the whole.
typealias FeedOutcome<Item> = Result<(feed: ParsedFeed, items: [Item]), FeedError>

/// The parts of what goes between them. Before each stands its number.
private enum FeedPart: UInt64 {
  case episode, restart, feed, notAFeed, tooLarge, storage, other
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
    var record = try RecordReader(file, progress: progress)
    guard try record.number() == mark else { throw RecordReader.Damaged() }
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
    switch part {
    case .feed: self = .success((try ParsedFeed(from: &record), items))
    case .notAFeed:
      self = .failure(
        .notAFeed(root: try record.optional { record throws(RecordReader.Damaged) in try record.text() }))
    case .tooLarge: self = .failure(.tooLarge(limit: Int(clamping: try record.number())))
    case .storage:
      let errno = Errno(rawValue: Int32(clamping: try record.signed()))
      let operation = try record.text()
      let subject = try record.optional { record throws(RecordReader.Damaged) in try record.text() }
      self = .failure(.storage(PosixError(errno, operation, subject)))
    case .other, .episode, .restart: self = .failure(.outOfMemory)
    }
    guard try record.number() == end else { throw RecordReader.Damaged() }
  }
}

extension FeedPart {
  fileprivate init(_ record: inout RecordReader) throws(RecordReader.Damaged) {
    guard let part = FeedPart(rawValue: try record.number()) else { throw RecordReader.Damaged() }
    self = part
  }
}

/// Writes what a parser's process has to say, and tells who reads it.
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

  /// - Parameter outcome: the feed without its episodes, or what is wrong with it.
  func finish(_ outcome: Result<ParsedFeed, FeedError>) throws(PosixError) {
    if let failure { throw failure }
    switch outcome {
    case .success(let feed):
      begin(.feed)
      try feed.write(to: &record)
    case .failure(.notAFeed(let root)), .failure(.notOPML(let root)):
      begin(.notAFeed)
      record.write(root) { $0.write($1) }
    case .failure(.tooLarge(let limit)):
      begin(.tooLarge)
      record.write(UInt64(limit))
    case .failure(.storage(let error)):
      begin(.storage)
      record.write(Int64(error.errno.rawValue))
      record.write(error.operation)
      record.write(error.subject) { $0.write($1) }
    case .failure(.outOfMemory), .failure(.parserEnded), .failure(.tooSlow): begin(.other)
    }
    record.write(end)
    try record.flush()
  }

  private func begin(_ part: FeedPart) { record.write(part.rawValue) }
}
