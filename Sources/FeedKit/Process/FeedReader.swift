internal import Glibc
package import PodcastModel
internal import PosixKit

/// Reads what strangers sent, in a process of its own for each document: one that crashes the parser, or takes all
/// memory or time, costs itself and nothing else.
package struct FeedReader: Sendable {
  /// This very program, also where its file has been replaced since it was started.
  package static let thisProgram = "/proc/self/exe"

  private let program: String
  private let patience: Double

  /// In processes of `path`, which must call `FeedWorker` for its argument; of this very program by default.
  /// - Parameter patience: seconds for one document, on a machine that has other work too.
  package static func program(_ path: String = thisProgram, patience: Double = 60) -> FeedReader {
    FeedReader(program: path, patience: patience)
  }

  /// Parses a feed, and waits for that: not for a thread that others wait for.
  /// - Parameters:
  ///   - isBehind: nobody waits for it: others' processes go first.
  ///   - baseURL, httpCharset: see `FeedParser.parse`.
  /// - Throws: besides what the document is, `FeedError.parserEnded` and `FeedError.tooSlow`; `FeedError.storage`
  ///   where this machine could not do it.
  package func parse(
    _ body: FeedBody, baseURL: WebAddress?, httpCharset: String?, isBehind: Bool = false
  ) throws(FeedError) -> ParsedFeed {
    var (feed, episodes) = try parse(
      body, baseURL: baseURL, httpCharset: httpCharset, isBehind: isBehind
    ) { $0 }
    feed.episodes = episodes
    return feed
  }

  /// Parses a feed whose episodes are wanted as something else.
  /// - Parameter make: what is made of an episode, while the rest is still parsed.
  /// - Returns: the feed without its episodes, and what was made of those, in the document's order.
  package func parse<Item>(
    _ body: FeedBody, baseURL: WebAddress?, httpCharset: String?, isBehind: Bool,
    episodes make: (consuming ParsedEpisode) -> Item?
  ) throws(FeedError) -> (feed: ParsedFeed, items: [Item]) {
    let job = FeedJob(baseURL: baseURL, httpCharset: httpCharset, isBehind: isBehind)
    return try run(job, on: body) { (record: inout Record) throws(RecordError) in
      try ParserOutput.read(from: &record, make).map { (feed: $0.0, items: $0.1) }
    }
  }

  /// Reads a list of subscriptions, and waits for that.
  /// - Throws: `FeedError.notAList` for another document; what `parse` throws.
  package func list(_ bytes: [UInt8]) throws(FeedError) -> OPMLDocument {
    let body = try FeedBody(limit: bytes.withUnsafeBytes { OPMLDocument.limit(of: $0) })
    try bytes.withBytes { all throws(FeedError) in try body.append(all) }
    return try run(FeedJob(wantsList: true), on: body) { (record: inout Record) throws(RecordError) in
      try ParserOutput.read(from: &record) { $0 }.map { $0.0 }
    }
  }

  private func run<Value>(
    _ job: FeedJob, on body: FeedBody,
    _ read: (inout Record) throws(RecordError) -> Result<Value, FeedError>
  ) throws(FeedError) -> Value {
    let deadline = MonotonicTime.after(patience)
    let process: Int32
    let results: FileDescriptor
    do throws(PosixError) {
      let output = try Pipe()
      process = try start(job, on: body, writingTo: output.writer)
      results = output.takeReader()
    } catch {
      throw .storage(error)
    }
    // Twice the texts, where the document is read again, and what stands between them.
    let limit = FeedLimits().output(ofDocument: body.count) * 3
    var record = Record(readingFrom: results.rawValue, limit: limit, until: deadline)
    let outcome = try? read(&record)
    // Whoever has said all, or nonsense, or nothing in time, has nothing to do any more. How it has ended by itself stays.
    kill(process, SIGKILL)
    let signal = (try? ChildProcess.wait(process)).map { $0 - 128 } ?? 0
    if let outcome { return try outcome.get() }
    if signal == SIGXCPU || MonotonicTime.now >= deadline { throw .tooSlow }
    throw .parserEnded(signal: signal > 0 && signal != SIGKILL ? signal : nil)
  }

  private func start(
    _ job: FeedJob, on body: FeedBody, writingTo output: borrowing FileDescriptor
  ) throws(PosixError) -> Int32 {
    // The job has room in the pipe before anybody reads.
    let input = try Pipe()
    var record = Record(writingTo: input.writer.rawValue)
    guard (try? record.write(job)) != nil, (try? record.flush()) != nil else {
      throw PosixError(.EPIPE, "start", program)
    }
    return try ChildProcess.start(
      program, name: "podcastfs", [FeedWorker.argument],
      files: [body.file.rawValue, output.rawValue, nil, input.reader.rawValue], isDetached: false)
  }
}

/// What the process that parses a document has to know beside its bytes. Everybody on the machine can read a command
/// line, and addresses are secret: so it comes through a pipe.
struct FeedJob: Recordable {
  var baseURL: WebAddress?
  var httpCharset: String?
  /// Nobody waits for it.
  var isBehind = false
  /// Whether a list of subscriptions is wanted rather than a feed.
  var wantsList = false

  init() {}

  init(wantsList: Bool) { self.wantsList = wantsList }

  init(baseURL: WebAddress?, httpCharset: String?, isBehind: Bool) {
    // A longer one is none (`FeedAddress`), and would not fit into the pipe.
    self.baseURL = baseURL.flatMap { $0.forRequest.utf8.count <= FeedAddress.longest ? $0 : nil }
    self.httpCharset = httpCharset.map { String($0.prefix(100)) }
    self.isBehind = isBehind
  }

  mutating func code(_ record: inout Record) throws(RecordError) {
    try baseURL.code(&record)
    try httpCharset.code(&record)
    try isBehind.code(&record)
    try wantsList.code(&record)
  }
}
