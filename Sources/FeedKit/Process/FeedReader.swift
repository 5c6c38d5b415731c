package import PodcastModel
package import PosixKit

/// Reads what strangers sent, in a process of its own for each document: one that crashes the parser, or takes all
/// memory or time, costs itself and nothing else.
package struct FeedReader: Sendable {
  private enum Place: Sendable {
    case thisProcess
    case program(String)
  }

  private let place: Place
  /// Seconds for one feed, on a machine that has other work too.
  private static let patience = 60.0
  /// Bytes of all show notes of a feed that are kept in memory; the rest stays in a temporary file.
  private static let notesInMemory = 12 << 20

  /// In the process that asks: for measuring and fuzzing.
  package static let inThisProcess = FeedReader(place: .thisProcess)

  /// In processes of `path`, which must call `FeedWorker` for its argument; of this very program by default.
  package static func program(_ path: String = HelperProcess.thisProgram) -> FeedReader {
    FeedReader(place: .program(path))
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
    switch place {
    case .thisProcess:
      var feed = try FeedParser.parse(
        bytes: try body.bytes(), baseURL: baseURL, httpCharset: httpCharset)
      let items = feed.episodes.compactMap(make)
      feed.episodes = []
      return (feed, items)
    case .program(let path):
      let job = FeedJob(baseURL: baseURL, httpCharset: httpCharset, isBehind: isBehind)
      return try parse(body, job, path, make)
    }
  }

  private func parse<Item>(
    _ body: FeedBody, _ job: FeedJob, _ program: String, _ make: (consuming ParsedEpisode) -> Item?
  ) throws(FeedError) -> (feed: ParsedFeed, items: [Item]) {
    let result = try Self.resultFile(of: body)
    let outcome = try Self.run(program, body, job, result) { progress in
      try? FeedOutcome(from: result, progress: progress, notesInMemory: Self.notesInMemory, make)
    }
    return try outcome.get()
  }

  /// Reads a list of subscriptions, and waits for that.
  /// - Throws: `FeedError.notAList` for another document; what `parse` throws.
  package func list(_ bytes: [UInt8]) throws(FeedError) -> OPMLDocument {
    guard case .program(let program) = place else { return try OPMLDocument.parse(bytes: bytes) }
    let body = try FeedBody(limit: OPMLDocument.byteLimit)
    try bytes.withBytes { all throws(FeedError) in try body.append(all) }
    let job = FeedJob(baseURL: nil, httpCharset: nil, isBehind: false, wantsList: true)
    let result = try Self.resultFile(of: body)
    let outcome = try Self.run(program, body, job, result) { progress in
      try? ListOutcome(from: result, progress: progress)
    }
    return try outcome.get()
  }

  private static func run<Result>(
    _ program: String, _ body: FeedBody, _ job: FeedJob, _ result: TextFile,
    while reading: (HelperProgress) -> Result?
  ) throws(FeedError) -> Result {
    let (end, outcome): (HelperProcess.End, Result?)
    do throws(PosixError) {
      let jobFile = try FileDescriptor.inMemory("podcastfs-job")
      try job.write(to: jobFile)
      (end, outcome) = try body.withFile { input throws(PosixError) in
        try HelperProcess.run(
          program, ["podcastfs", FeedWorker.argument], input: input, output: result.descriptor,
          third: jobFile,
          until: .after(patience), while: reading)
      }
    } catch {
      throw .storage(error)
    }
    switch end {
    case .timedOut, .signalled(processorTimeSignal): throw .tooSlow
    case .signalled(let signal): throw .parserEnded(signal: signal)
    case .exited, .abandoned: break
    }
    guard end == .exited(0), let outcome else { throw .parserEnded(signal: nil) }
    return outcome
  }

  /// What comes out is about as long as what goes in.
  private static func resultFile(of body: FeedBody) throws(FeedError) -> TextFile {
    do { return try TextFile(inMemory: body.isInMemory) } catch { throw .storage(error) }
  }

  /// Reads what a parser's process wrote of a list, whatever that is.
  package static func list(in result: consuming FileDescriptor) throws(FeedError) -> OPMLDocument {
    guard let outcome = try? ListOutcome(from: TextFile(result), progress: nil) else {
      throw .parserEnded(signal: nil)
    }
    return try outcome.get()
  }

  /// SIGXCPU.
  private static let processorTimeSignal: Int32 = 24

  /// What a parser's process wrote, whatever that is.
  package static func feed(in result: consuming FileDescriptor) throws(FeedError) -> ParsedFeed {
    let outcome = try? FeedOutcome(
      from: TextFile(result), progress: nil, notesInMemory: notesInMemory
    ) { $0 }
    guard let outcome else { throw .parserEnded(signal: nil) }
    var (feed, episodes) = try outcome.get()
    feed.episodes = episodes
    return feed
  }
}
