import FeedKit
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Feeds that are parsed in processes of their own.
@Suite struct FeedReaderTests {
  private let reader = FeedReader.shipped

  private func body(_ bytes: [UInt8]) throws -> FeedBody { try FeedBody(bytes) }

  private func body(_ text: String) throws -> FeedBody { try body(Array(text.utf8)) }

  /// Written by another process: a child that another test starts at this moment would have the file open for writing
  /// too, and no such file can be run.
  private func program(_ script: String, in directory: TemporaryDirectory) throws -> String {
    let path = directory.path("program")
    let writer = try RunningProcess(
      "sh", ["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 700 \"$2\"", "sh", script, path],
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(writer.wait() == .exit(0))
    return path
  }

  @Test(arguments: CorpusTests.feeds)
  func `A real feed is the same feed`(name: String) throws {
    let bytes = try Fixtures.bytes("feeds/" + name)
    let feed = try reader.parse(try body(bytes), baseURL: "https://ann:secret@h/f", httpCharset: nil)
    #expect(try feed == FeedParser.parse(bytes: bytes, baseURL: "https://ann:secret@h/f"))
  }

  @Test func `A feed too large for memory is the same feed, and so are its notes`() throws {
    let filler = String(repeating: "é words ", count: 12_000)
    let items = (0..<200).map {
      "<item><description>\($0) \(filler)</description><enclosure url='/\($0)'/></item>"
    }
    let bytes = Array("<rss><channel>\(items.joined())</channel></rss>".utf8)
    let feed = try reader.parse(try body(bytes), baseURL: "https://h/", httpCharset: "utf-8")
    #expect(feed.episodes.count == 200)
    #expect(try feed == FeedParser.parse(bytes: bytes, baseURL: "https://h/"))
  }

  @Test func `What is wrong with a document is said as it is elsewhere`() throws {
    #expect(throws: FeedError.notAFeed(ForeignDocument(.webPage))) {
      try reader.parse(try body("<html><p>x</p></html>"), baseURL: nil, httpCharset: nil)
    }
    #expect(throws: FeedError.notAFeed(ForeignDocument(.nothing))) {
      try reader.parse(try body(""), baseURL: nil, httpCharset: nil)
    }
  }

  @Test func `A parser that fails costs one feed and says so`() throws {
    let feed = try body("<rss><channel/></rss>")
    for (program, error) in [
      ("/bin/false", FeedError.parserEnded(signal: nil)), ("/bin/true", .parserEnded(signal: nil)),
    ] {
      #expect(throws: error) {
        try FeedReader.program(program).parse(feed, baseURL: nil, httpCharset: nil)
      }
    }
    #expect(throws: FeedError.storage(PosixError(.ENOENT, "start", "/no/program"))) {
      try FeedReader.program("/no/program").parse(feed, baseURL: nil, httpCharset: nil)
    }
    #expect("\(FeedError.parserEnded(signal: 4))" == "could not be read: its parser ended by signal 4")
  }

  @Test(arguments: [
    ("kill -SEGV $$", FeedError.parserEnded(signal: 11)), ("kill -XCPU $$", .tooSlow),
    ("printf 'abc'", .parserEnded(signal: nil)), ("cat", .parserEnded(signal: nil)),
    ("head -c 200000 /dev/urandom", .parserEnded(signal: nil)),
  ])
  func `Whatever another program does in its place is an error`(script: String, error: FeedError) throws {
    let directory = try TemporaryDirectory()
    let path = try program(script, in: directory)
    #expect(throws: error) {
      try FeedReader.program(path).parse(
        try body("<rss><channel/></rss>"), baseURL: nil, httpCharset: nil)
    }
  }

  @Test func `A parser that does not end is ended`() throws {
    let directory = try TemporaryDirectory()
    let path = try program("exec sleep 1000", in: directory)
    #expect(throws: FeedError.tooSlow) {
      try FeedReader.program(path, patience: 0.05).parse(
        try body("<rss><channel/></rss>"), baseURL: nil, httpCharset: nil)
    }
  }

  @Test func `A parser that writes nonsense is ended at once`() throws {
    let directory = try TemporaryDirectory()
    let path = try program("echo damaged; exec sleep 1000", in: directory)
    #expect(throws: FeedError.parserEnded(signal: nil)) {
      try FeedReader.program(path, patience: 1000).parse(
        try body("<rss><channel/></rss>"), baseURL: nil, httpCharset: nil)
    }
  }

  @Test func `What came before a document had to be repaired is forgotten`() throws {
    let items = (0..<2000).map {
      "<item><title>\($0)</title><description>\(String(repeating: "word ", count: 50))</description>"
        + "<enclosure url='/\($0)'/></item>"
    }
    // The parser notices at the end only that the document is damaged.
    let bytes = Array("<rss><channel>\(items.joined())<title>Bell & Co</channel></rss>".utf8)
    let feed = try reader.parse(try body(bytes), baseURL: "https://h/", httpCharset: nil)
    #expect(feed.episodes.map(\.title) == (0..<2000).map { String($0) })
    #expect(try feed == FeedParser.parse(bytes: bytes, baseURL: "https://h/"))
  }

  @Test func `A parser's process can open no file and no socket, and start no process`() throws {
    let outcome = try ChildProcess.run([Products.path("podcastfs"), FeedWorker.probeArgument])
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
    // The probe would notice: outside it can do all three.
    #expect(Sandbox.gaps() == ["open a file", "open a socket", "start a process"])
  }

  /// Decoders of these are files, which must be open before the process can open none.
  @Test(arguments: [
    ("koi8-r", [0xC1, 0xC2], "аб"), ("Shift_JIS", [0x93, 0xFA], "日"), ("big5", [0xA4, 0xA4], "中"),
  ])
  func `Rare encodings are read, well-formed or not`(name: String, bytes: [UInt8], title: String) throws {
    for end in ["</title></channel></rss>", " & x</title></channel></rss>"] {
      let start = "<?xml version='1.0' encoding='\(name)'?><rss><channel><title>"
      let feed = try reader.parse(Array(start.utf8) + bytes + Array(end.utf8))
      #expect(feed.title?.hasPrefix(title) == true)
    }
  }

  @Test func `A body is read however it is compressed`() throws {
    let bytes = Array("<rss><channel><title>T</title></channel></rss>".utf8)
    let gzip = try Compression.gzip(bytes)
    let bodies: [[UInt8]] = [
      bytes, gzip, gzip + Array("junk".utf8), gzip.dropLast(8),
      try Compression.gzip(Array(bytes.prefix(20))) + Compression.gzip(Array(bytes.dropFirst(20))),
    ]
    for (index, coded) in bodies.enumerated() {
      #expect(try reader.parse(coded).title == "T", "\(index)")
    }
    #expect(throws: FeedError.damagedCompression) {
      try reader.parse([0x1F, 0x8B, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    }
    let bomb = try Compression.gzip([UInt8](repeating: 0x20, count: 1 << 20))
    #expect(throws: FeedError.tooLarge(limit: 1 << 16)) { try FeedBody(bomb, limit: 1 << 16) }
  }

  @Test func `Another body has another digest`() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let whole = try body(bytes).digest
    for count in [0, 1, 3, 4, 8, 31, 32, 99_999] {
      #expect(try body(Array(bytes.prefix(count))).digest != whole)
    }
    var other = bytes
    other[77_777] ^= 1
    #expect(try body(other).digest != whole)
  }
}
