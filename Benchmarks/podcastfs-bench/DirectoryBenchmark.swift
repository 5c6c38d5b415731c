internal import Directory
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TestSupport

/// The offline directory at its real size: how long it takes to make, and how long a search takes when nothing of its file
/// is in memory.
enum DirectoryBenchmark {
  static func run(_ arguments: [String]) throws {
    let home = argument("--home", in: arguments) ?? "/tmp/podcastfs-bench-directory"
    let rows = argument("--rows", in: arguments).flatMap { Int($0) } ?? 4_700_000
    try Directories.create(home)
    let dump = "\(home)/podcastindex_feeds.db"
    if access(dump, F_OK) != 0 {
      var made = try PodcastIndexDump(path: "\(dump).new")
      try made.addMany(rows, now: wallClockSeconds())
      try made.finish()
      rename("\(dump).new", dump)
    }
    let place = DirectoryPlace(shared: nil, data: "\(home)/data", cache: "\(home)/cache")
    let archive = "\(home)/podcastindex_feeds.db.tgz"
    if access(archive, F_OK) != 0 {
      _ = try ChildProcess.run(["tar", "-czf", archive, "-C", home, "podcastindex_feeds.db"])
    }
    if arguments.contains("--import") || access(place.file, F_OK) != 0 {
      let start = MonotonicTime.now
      let facts = try DirectoryImport(place: place, program: FeedBenchmark.program, minimumFree: 0)
        .run(try FileDescriptor(opening: archive, O_RDONLY), name: "dump")
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
      print("import of \(facts.podcasts) podcasts: \(Int(MonotonicTime.now.seconds(since: start))) s")
      print("memory at its peak: \(Memory.peak() >> 20) MiB, reader \(usage.ru_maxrss >> 10) MiB")
      print("file: \(facts.bytes >> 20) MiB")
    }
    try measure(PodcastDirectory(place: place))
  }

  private static let queries = [
    "the", "podcast", "podc", "podca", "the podcast", "the show with", "po", "p", "t", "kalo", "kalomi",
    "radio news of",
    "ka lo mi", "podcasting", "show", "berlin", "vorpe", "nothinglikethis", "th po ra", "talk", "an", "sane",
  ]

  private static func measure(_ directory: PodcastDirectory) throws {
    var slowest = 0.0
    for query in queries {
      try forget(directory.place.file)
      let fresh = PodcastDirectory(place: directory.place)
      let start = MonotonicTime.now
      let found = try fresh.search(SearchQuery(parsing: query), limit: 50)
      let seconds = MonotonicTime.now.seconds(since: start)
      let again = MonotonicTime.now
      _ = try fresh.search(SearchQuery(parsing: query), limit: 50)
      slowest = max(slowest, seconds)
      print(
        "\(query): \(found.count) found, cold \(text(seconds)), warm \(text(MonotonicTime.now.seconds(since: again)))"
      )
    }
    print("slowest, cold: \(text(slowest))")
  }

  /// Drops a file from the page cache (posix_fadvise(2)).
  private static func forget(_ path: String) throws {
    posix_fadvise(try FileDescriptor(opening: path, O_RDONLY).rawValue, 0, 0, POSIX_FADV_DONTNEED)
  }

  private static func argument(_ name: String, in arguments: [String]) -> String? {
    arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
  }

  private static func text(_ seconds: Double) -> String { "\(Double(Int(seconds * 10_000)) / 10) ms" }
}
