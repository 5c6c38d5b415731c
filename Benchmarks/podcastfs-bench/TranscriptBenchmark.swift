internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import Transcripts

/// What was said in ten thousand hours: the size of the index, and how long a query takes.
enum TranscriptBenchmark {
  static func run(_ arguments: [String]) throws {
    let home = argument("--home", in: arguments) ?? "/tmp/podcastfs-bench-transcripts"
    let hours = argument("--hours", in: arguments).flatMap { Int($0) } ?? 10_000
    let own = "\(home)/own"
    let path = "\(home)/transcripts.sqlite"
    try Directories.create(own)
    let files = (0..<hours).map { number in
      TranscriptFile(
        key: MediaKey(address: WebAddress("http://media.example/\(number).mp3")), name: "\(number).vtt",
        isOwn: true)
    }
    var bytes = 0
    for (number, file) in files.enumerated() {
      if access("\(own)/\(file.name)", F_OK) != 0 {
        try Directories.replace("\(own)/\(file.name)", with: hour(number), outlivesPower: false)
      }
      var status = stat()
      if stat("\(own)/\(file.name)", &status) == 0 { bytes += Int(status.st_size) }
    }
    print("transcripts: \(files.count) of an hour each, \(bytes >> 20) MiB")
    let start = MonotonicTime.now
    let index = try TranscriptIndex(path: path, folders: .init(own: own, copies: home))
    try index.agree(with: files)
    print("indexed in \(Int(MonotonicTime.now.seconds(since: start))) s")
    var status = stat()
    stat(path, &status)
    print("index: \(status.st_size / 1_000_000) MB")
    try measure(index)
  }

  /// A cue every four seconds, ten words each: 150 words a minute.
  private static func hour(_ number: Int) -> [UInt8] {
    var source = WordSource(seed: UInt64(number))
    var text = "WEBVTT\n\n"
    for cue in 0..<900 {
      text += "\(time(cue * 4)) --> \(time(cue * 4 + 4))\n\(source.text(10))\n\n"
    }
    return Array(text.utf8)
  }

  private static func time(_ seconds: Int) -> String {
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60)).000"
  }

  private static func measure(_ index: TranscriptIndex) throws {
    let source = WordSource()
    func words(_ ranks: Int...) -> String { ranks.map { source.word($0) }.joined(separator: " ") }
    // By how often they are: words of ranks 0 to 4 are in nearly each half minute.
    let queries: [(String, [String])] = [
      ("a very common word", [words(0)]), ("a common word", [words(200)]), ("a seldom word", [words(20_000)]),
      ("a word that nobody says", ["nothinglikethis"]), ("two words", [words(100), words(300)]),
      ("four words", [words(20), words(50), words(200), words(700)]),
      ("a phrase of common words", [words(0, 1)]), ("a phrase of four common words", [words(3, 1, 0, 2)]),
      ("a phrase of six common words", [words(0, 1, 2, 0, 1, 2)]),
      ("a phrase of seldom words", [words(900, 2000)]),
      ("two phrases", [words(3, 5), words(2, 7)]),
    ]
    var slowest = 0.0
    for (name, texts) in queries {
      guard let query = TranscriptQuery(texts) else { continue }
      for limit in [200, 1000] {
        let (start, processor) = (MonotonicTime.now, clock())
        let found = try index.search(query, limit: limit)
        let seconds = MonotonicTime.now.seconds(since: start)
        // What it takes on a machine that does nothing else.
        let own = Double(clock() - processor) / Double(CLOCKS_PER_SEC)
        slowest = max(slowest, own)
        print(
          "\(name), at most \(limit): \(found.count) found in \(text(own)) of processor, \(text(seconds))")
      }
    }
    print("slowest: \(text(slowest)) of processor")
  }

  private static func text(_ seconds: Double) -> String { "\(Double(Int(seconds * 10_000)) / 10) ms" }

  private static func argument(_ name: String, in arguments: [String]) -> String? {
    arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
  }
}
