internal import Glibc
internal import PosixKit

/// The process that parses one feed: `podcastfs` in a mode that no user calls. It gets the feed as its standard
/// input and the job as descriptor 3, writes what it makes of them on its standard output, and touches nothing
/// else.
package enum FeedWorker {
  /// The argument that calls it.
  package static let argument = "--parse-feed"
  /// Seconds on a processor: some hundred times as long as the largest honest feed takes.
  static let processorSeconds = 20
  /// Bytes of memory: the largest feed that is taken, several times over.
  private static let memory = 512 << 20

  /// A third of what others get of a processor, where nobody waits for this one (nice(2)).
  private static let courtesy: Int32 = 5

  /// - Returns: the exit status; 0 also where the document is no feed, which the output says.
  package static func run() -> Int32 {
    let limits = FeedLimits()
    ResourceLimits.confine(
      ResourceLimits.Confinement(
        memory: memory, processorSeconds: processorSeconds,
        fileSize: limits.output(ofDocument: limits.document)))
    let writer = FeedOutcomeWriter(descriptor: 1)
    do {
      let job = try FeedJob(from: TextFile(FileDescriptor(owning: HelperProcess.thirdDescriptor)))
      if job.isBehind { ResourceLimits.giveWay(by: courtesy) }
      try writer.finish(outcome(of: job, writer.episodes))
      return 0
    } catch {
      return 1
    }
  }

  private static func outcome(
    of job: FeedJob, _ episodes: EpisodeReceiver
  ) -> Result<ParsedFeed, FeedError> {
    Result { () throws(FeedError) in
      // No text waits in a file: there are no others here.
      var limits = FeedLimits()
      limits.notesInMemory = .max
      return try FeedParser.parse(
        FileDescriptor(owning: 0), baseURL: job.baseURL, httpCharset: job.httpCharset, limits: limits,
        episodes: episodes)
    }
  }
}
