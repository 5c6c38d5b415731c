package import PosixKit

/// What a parser's process writes: the episodes, one by one while the rest is still parsed, then the document without
/// them, or why it can't be read.
enum ParserOutput {
  /// Stands before each part.
  private enum Part: UInt64 { case episode, restart, document, error }

  /// Begins and ends it: another program's output is not taken for one, and one that is cut short is noticed.
  private static let mark: UInt64 = 0x706f_6466

  /// - Parameter make: what becomes of an episode.
  static func read<Document: Recordable, Item>(
    from record: inout Record, _ make: (consuming ParsedEpisode) -> Item?
  ) throws(RecordError) -> Result<(Document, [Item]), FeedError> {
    try record.mark(mark)
    var items: [Item] = []
    while true {
      var part = Part.episode
      try record.code(&part)
      switch part {
      case .episode: if let item = make(try record.read()) { items.append(item) }
      case .restart: items = []
      case .document:
        let document: Document = try record.read()
        try record.mark(mark)
        return .success((document, items))
      case .error:
        let error: FeedError = try record.read()
        try record.mark(mark)
        return .failure(error)
      }
    }
  }

  /// Writes it on a descriptor.
  /// - Parameter parse: gives the document without the episodes, which its argument gets.
  static func write<Document: Recordable>(
    to descriptor: Int32, _ parse: (EpisodeReceiver) throws(FeedError) -> Document
  ) throws(RecordError) {
    var record = Record(writingTo: descriptor)
    try record.mark(mark)
    var failure: RecordError?
    func write(_ part: Part, _ episode: ParsedEpisode?) {
      if failure != nil { return }
      do throws(RecordError) {
        try record.mark(part.rawValue)
        if let episode { try record.write(episode) }
        try record.flushPiece()
      } catch {
        failure = error
      }
    }
    let receiver = EpisodeReceiver(take: { write(.episode, $0) }, restart: { write(.restart, nil) })
    let outcome = Result { () throws(FeedError) in try parse(receiver) }
    if let failure { throw failure }
    switch outcome {
    case .success(let document):
      try record.mark(Part.document.rawValue)
      try record.write(document)
    case .failure(let error):
      try record.mark(Part.error.rawValue)
      try record.write(error)
    }
    try record.mark(mark)
    try record.flush()
  }
}

/// The errors that parsing gives; any other is as if there were no memory.
extension FeedError: Recordable {
  init() { self = .outOfMemory }

  mutating func code(_ record: inout Record) throws(RecordError) {
    var (kind, limit, found): (UInt64, Int, ForeignDocument) = (0, 0, ForeignDocument())
    switch self {
    case .notAFeed(let other): (kind, found) = (1, other)
    case .notAList(let other): (kind, found) = (2, other)
    case .tooLarge(let most): (kind, limit) = (3, most)
    default: break
    }
    try kind.code(&record)
    try limit.code(&record)
    try found.code(&record)
    switch kind {
    case 0: self = .outOfMemory
    case 1: self = .notAFeed(found)
    case 2: self = .notAList(found)
    case 3: self = .tooLarge(limit: limit)
    default: throw RecordError()
    }
  }
}

// What a parser's process wrote, whatever that is: for fuzzing.
extension FeedReader {
  /// - Parameter limit: the most bytes that are taken.
  package static func feed(in result: borrowing FileDescriptor, limit: Int) -> ParsedFeed? {
    guard var (feed, episodes): (ParsedFeed, [ParsedEpisode]) = document(in: result, limit) else {
      return nil
    }
    swap(&feed.episodes, &episodes)
    return feed
  }

  /// - Parameter limit: the most bytes that are taken.
  package static func list(in result: borrowing FileDescriptor, limit: Int) -> OPMLDocument? {
    document(in: result, limit)?.0
  }

  private static func document<Document: Recordable>(
    in result: borrowing FileDescriptor, _ limit: Int
  ) -> (Document, [ParsedEpisode])? {
    var record = Record(readingFrom: result.rawValue, limit: limit)
    return try? ParserOutput.read(from: &record) { $0 }.get()
  }
}
