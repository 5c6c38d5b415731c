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
  ///   - baseURL, httpCharset: see `FeedParser.parse`.
  /// - Throws: besides what the document is, `FeedError.parserEnded` and `FeedError.tooSlow`; `FeedError.storage`
  ///   where this machine could not do it.
  package func parse(
    _ body: FeedBody, baseURL: WebAddress?, httpCharset: String?
  ) throws(FeedError) -> ParsedFeed {
    let feed: ParsedFeed = try run(FeedJob(baseURL: baseURL, httpCharset: httpCharset), on: body)
    if !feed.isWhole, feed.episodes.isEmpty { throw .incomplete }
    return feed
  }

  /// Reads a list of subscriptions, and waits for that.
  /// - Throws: `FeedError.notAList` for another document; what `parse` throws.
  package func list(_ bytes: [UInt8]) throws(FeedError) -> OPMLDocument {
    let limit = bytes.withUnsafeBytes { OPMLDocument.limit(of: $0) }
    var job = FeedJob()
    job.wantsList = true
    return try run(job, on: FeedBody(bytes, limit: limit))
  }

  private func run<Document: FieldCoded>(_ job: FeedJob, on body: FeedBody) throws(FeedError) -> Document {
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
    // The texts, and what stands between them.
    let limit = FeedLimits().output(ofDocument: body.count) * 2
    let outcome: Result<Document, FeedError>? = PipedValue.read(
      from: results.rawValue, limit: limit, until: deadline)
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
    try PipedValue.write(job, to: input.writer.rawValue)
    return try ChildProcess.start(
      program, name: "podcastfs", [FeedWorker.argument],
      files: [body.file.rawValue, output.rawValue, nil, input.reader.rawValue], isDetached: false)
  }
}

/// What the process that parses a document has to know beside its bytes. Everybody on the machine can read a command
/// line, and addresses are secret: so it comes through a pipe.
struct FeedJob: FieldCoded {
  var baseURL: WebAddress?
  var httpCharset: String?
  /// Whether a list of subscriptions is wanted rather than a feed.
  var wantsList = false

  init() {}

  init(baseURL: WebAddress?, httpCharset: String?) {
    // A longer one is none (`FeedAddress`), and would not fit into the pipe.
    self.baseURL = baseURL.flatMap { $0.forRequest.utf8.count <= FeedAddress.longest ? $0 : nil }
    self.httpCharset = httpCharset.map { String($0.prefix(100)) }
  }

  mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&baseURL, &httpCharset, &wantsList)
  }
}
