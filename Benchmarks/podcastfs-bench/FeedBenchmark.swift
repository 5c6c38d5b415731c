internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PosixKit

/// A large feed through the parser: speed beside libxml2's own, and the memory that it takes.
enum FeedBenchmark {
  static func run(_ arguments: [String]) throws {
    let path = value(of: "--keep", in: arguments) ?? "/tmp/podcastfs-bench-\(getpid()).xml"
    let episodes = value(of: "--episodes", in: arguments).flatMap(Int.init) ?? 10_000
    try LargeFeed.write(to: path, episodes: episodes)
    defer { if !arguments.contains("--keep") { unlink(path) } }
    let file = try FileDescriptor(opening: path, O_RDONLY)
    let size = Int(try file.status().st_size)
    print("feed: \(size / 1_000_000) MB, \(episodes) episodes")

    let before = Memory.now()
    Memory.resetPeak()
    let feed = try parse(file)
    print("parsed: \(feed.episodes.count) episodes, \(feed.warnings.count) warnings")
    print("additional memory at its peak: \(mebibytes(Memory.peak() - before))")
    let best = try processorSeconds { _ = try parse(file) }
    let report = processorSeconds {
      _ = FeedReport(feed: feed, feedURL: nil, now: 0).json.indentedText
    }
    let bare = try processorSeconds { try BareParser.parse(file) }
    let bytes = try Directories.read(path, limit: 1 << 30)
    let alone = try processorSeconds { _ = try FeedParser.parse(bytes: bytes) }
    print("FeedParser:  \(rate(size, alone)), with collecting and digesting its bytes \(rate(size, best))")
    print("libxml2 SAX: \(rate(size, bare)) (nothing done with what it says)")
    try measureProcess(file)
    print("FeedReport:  \(Int(report * 1000)) ms for names and JSON")
    print("ratio: \((best / bare * 100).rounded() / 100)")
  }

  /// The same in a process of its own, with the podcastfs that is beside this program.
  private static func measureProcess(_ file: borrowing FileDescriptor) throws {
    guard access(program, X_OK) == 0 else { return }
    let tiny = try FileDescriptor.inMemory("tiny")
    try tiny.write(Array("<rss><channel><title>T</title></channel></rss>".utf8), at: 0)
    let (large, small) = (
      try clockSeconds {
        _ = try FeedReader.program(program).parse(body(of: file), baseURL: address, httpCharset: nil)
      },
      try clockSeconds {
        _ = try FeedReader.program(program).parse(body(of: tiny), baseURL: address, httpCharset: nil)
      }
    )
    let here = try clockSeconds { _ = try parse(file) }
    print(
      "on the clock: \(Int(here * 1000)) ms here, \(Int(large * 1000)) ms in a process of its own; "
        + "a tiny feed there: \(Double(Int(small * 10_000)) / 10) ms")
  }

  /// Time on the clock of the fastest of ten runs.
  private static func clockSeconds(_ body: () throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<10 {
      let start = MonotonicTime.now
      try body()
      best = min(best, MonotonicTime.now.seconds(since: start))
    }
    return best
  }

  private static let address: WebAddress = "https://feeds.example/large.xml"

  /// The podcastfs beside this program.
  static let program: String = {
    let own = ProgramArguments.all[0]
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/podcastfs"
  }()

  private static func parse(_ file: borrowing FileDescriptor) throws -> ParsedFeed {
    try FeedParser.parse(bytes: try body(of: file).bytes(), baseURL: address)
  }

  /// As it comes from the network.
  private static func body(of file: borrowing FileDescriptor) throws -> FeedBody {
    var bytes: [UInt8] = []
    try Pieces.forEach(of: file) { bytes.append(contentsOf: $0) }
    return try FeedBody(bytes)
  }

  /// Processor time of the fastest of ten runs: other programs disturb it less than time on the clock.
  private static func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    var best = Double.infinity
    for _ in 0..<10 {
      let start = now()
      try body()
      best = min(best, now() - start)
    }
    return best
  }

  private static func rate(_ bytes: Int, _ seconds: Double) -> String {
    "\(Int(Double(bytes) / 1e6 / seconds)) MB/s, \(Int(seconds * 1000)) ms"
  }

  private static func mebibytes(_ bytes: Int) -> String {
    "\((Double(bytes) / 1_048_576 * 10).rounded() / 10) MiB"
  }

  private static func value(of option: String, in arguments: [String]) -> String? {
    guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
    return arguments[index + 1]
  }
}
