package import PodcastModel
package import PosixKit

/// Parses feeds that strangers sent, in a process of its own for each: one that crashes the parser, or takes all
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
  private static let notesInMemory = FeedLimits().notesInMemory

  /// In the process that asks, which is trusting.
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
    switch place {
    case .thisProcess:
      return try body.withFile { file throws(FeedError) in
        try FeedParser.parse(file, baseURL: baseURL, httpCharset: httpCharset)
      }
    case .program(let path):
      return try parse(body, FeedJob(baseURL: baseURL, httpCharset: httpCharset, isBehind: isBehind), path)
    }
  }

  private func parse(_ body: FeedBody, _ job: FeedJob, _ program: String) throws(FeedError) -> ParsedFeed {
    let (result, end): (TextFile, HelperProcess.End)
    do {
      // What comes out is about as long as what goes in.
      result = try TextFile(inMemory: body.isInMemory)
      end = try Self.run(program, body, job, result)
    } catch {
      throw .storage(error)
    }
    switch end {
    case .timedOut, .signalled(Self.processorTimeSignal): throw .tooSlow
    case .signalled(let signal): throw .parserEnded(signal: signal)
    case .exited(0): break
    case .exited: throw .parserEnded(signal: nil)
    }
    return try Self.feed(in: result)
  }

  private static func run(
    _ program: String, _ body: FeedBody, _ job: FeedJob, _ result: TextFile
  ) throws(PosixError) -> HelperProcess.End {
    let jobFile = try FileDescriptor.inMemory("podcastfs-job")
    try job.write(to: jobFile)
    return try body.withFile { input throws(PosixError) in
      try HelperProcess.run(
        program, ["podcastfs", FeedWorker.argument], input: input, output: result.descriptor, third: jobFile,
        until: .after(patience))
    }
  }

  /// SIGXCPU.
  private static let processorTimeSignal: Int32 = 24

  /// What a parser's process wrote, whatever that is.
  package static func feed(in result: consuming FileDescriptor) throws(FeedError) -> ParsedFeed {
    try feed(in: TextFile(result))
  }

  private static func feed(in file: TextFile) throws(FeedError) -> ParsedFeed {
    let outcome: FeedOutcome
    do {
      var record = try RecordReader(file)
      outcome = try FeedOutcome(from: &record, notesInMemory: notesInMemory)
    } catch {
      throw .parserEnded(signal: nil)
    }
    switch outcome {
    case .feed(let feed): return feed
    case .error(let error): throw error
    }
  }
}
