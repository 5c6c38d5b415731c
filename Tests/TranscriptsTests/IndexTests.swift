import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import Transcripts

/// The index of what was said.
@Suite struct IndexTests {
  private final class Fixture {
    let folder: TemporaryDirectory
    let index: TranscriptIndex

    init() throws {
      folder = try TemporaryDirectory()
      for name in ["own", "copies"] { try Directories.create(folder.path(name)) }
      index = try TranscriptIndex(
        path: folder.path("transcripts.sqlite"),
        folders: .init(own: folder.path("own"), copies: folder.path("copies")))
    }

    static func key(_ number: Int) -> MediaKey {
      MediaKey(address: WebAddress("http://media.example/\(number).mp3"))
    }

    @discardableResult
    func put(_ number: Int, _ text: String, isOwn: Bool = true, ending: String = ".vtt") throws
      -> TranscriptFile
    {
      let file = TranscriptFile(key: Self.key(number), name: "\(number)\(ending)", isOwn: isOwn)
      try Directories.replace(folder.path(isOwn ? "own" : "copies") + "/" + file.name, with: Array(text.utf8))
      return file
    }

    @discardableResult
    func add(_ number: Int, _ text: String, isOwn: Bool = true, ending: String = ".vtt") throws
      -> TranscriptFile
    {
      let file = try put(number, text, isOwn: isOwn, ending: ending)
      try index.add(file)
      return file
    }

    /// The numbers of the episodes that match.
    func found(_ texts: String..., limit: Int = 100) throws -> [Int] {
      guard let query = TranscriptQuery(texts) else { return [] }
      let keys = try index.search(query, limit: limit)
      return keys.map { key in (0..<1000).first { Self.key($0) == key } ?? -1 }
    }

    func hits(_ number: Int, _ texts: String...) throws -> [TranscriptHit] {
      guard let query = TranscriptQuery(texts) else { return [] }
      return try index.hits(of: Self.key(number), query)
    }
  }

  /// A cue every ten seconds.
  private static func vtt(_ lines: [String]) -> String {
    func time(_ seconds: Int) -> String {
      let text = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
      return "\(text(seconds / 3600)):\(text(seconds / 60 % 60)):\(text(seconds % 60)).000"
    }
    return "WEBVTT\n\n"
      + lines.enumerated().map { "\(time($0 * 10)) --> \(time($0 * 10 + 10))\n\($1)\n\n" }.joined()
  }

  @Test func wordsAreFoundTogetherAndPhrasesInTheirOrder() throws {
    let fixture = try Fixture()
    try fixture.add(
      1, Self.vtt(["Good evening.", "Fog on the", "breakwater, they say.", "x", "x", "The Fog-Horn!"]))
    try fixture.add(2, Self.vtt(["on fog the breakwater", "x", "x", "x", "x", "x", "the end"]))
    #expect(try fixture.found("fog") == [2, 1])
    #expect(try fixture.found("fog", limit: 1) == [2])
    #expect(try fixture.found("fog on the breakwater") == [1])
    #expect(try fixture.found("FOG horn") == [1])
    #expect(try fixture.found("breakwater", "they say") == [1])
    // Not within half a minute.
    #expect(try fixture.found("end", "breakwater").isEmpty)
    #expect(try fixture.found("fo").isEmpty && fixture.found("fog the").isEmpty == false)
    let hits = try fixture.hits(1, "fog")
    #expect(hits.map(\.start) == [10_000, 50_000])
    #expect(hits.first?.text == "Fog on the breakwater, they say. x")
  }

  @Test(arguments: [
    ("Straße in Łódź", "strasse in lodz"), ("Αθήνα σήμερα", "αθηνα σημερα"), ("東京の天気", "東京の"),
    ("नमस्ते दुनिया", "दुनिया"),
    ("L’été d’Amélie", "ete d amelie"), ("О ёлке", "елке"),
  ]) func wordsOfAllScripts(text: String, words: String) throws {
    let fixture = try Fixture()
    try fixture.add(1, Self.vtt([text]))
    #expect(try fixture.found(words) == [1])
    #expect(try fixture.hits(1, words).count == 1)
  }

  @Test func theUsersOwnTranscriptWinsAndTheFeedsComesBack() throws {
    let fixture = try Fixture()
    let copy = try fixture.add(1, Self.vtt(["of the feed"]), isOwn: false)
    try fixture.add(1, Self.vtt(["of the user"]), ending: ".srt")
    #expect(try !fixture.index.add(copy))
    #expect(try fixture.found("user") == [1] && fixture.found("feed").isEmpty)
    unlink(fixture.folder.path("own/1.srt"))
    #expect(try fixture.index.add(copy))
    #expect(try fixture.found("feed") == [1] && fixture.found("user").isEmpty)
    #expect(try !fixture.index.agree(with: [copy]))
  }

  @Test func aChangedFileIsIndexedAnewAndAGoneOneIsNotFound() throws {
    let fixture = try Fixture()
    let file = try fixture.add(1, Self.vtt(["before"]))
    try fixture.put(1, Self.vtt(["after it"]))
    #expect(try fixture.index.agree(with: [file]))
    #expect(try fixture.found("before").isEmpty && fixture.found("after") == [1])
    unlink(fixture.folder.path("own/1.vtt"))
    #expect(try fixture.index.agree(with: [file]))
    #expect(try fixture.found("after").isEmpty)
  }

  @Test func ofWhatIsForgottenNoWordStaysInTheFile() throws {
    let fixture = try Fixture()
    try fixture.add(1, Self.vtt(["a word like xylophone"]))
    try fixture.add(2, Self.vtt(["another like saxophone"]))
    try fixture.index.forget([Fixture.key(1)])
    #expect(try fixture.found("xylophone").isEmpty && fixture.found("saxophone") == [2])
    for ending in ["", "-wal"] {
      let bytes = (try? Directories.read(fixture.folder.path("transcripts.sqlite" + ending))) ?? []
      #expect(!String(decoding: bytes, as: UTF8.self).contains("xylophone"))
    }
  }

  @Test func whatWasTakenOutLeavesTheIndexWhenThereIsMuchOfIt() throws {
    let fixture = try Fixture()
    let lines = (0..<3000).map { "word\($0) again" }
    for round in 0..<6 {
      let file = try fixture.put(1, Self.vtt(lines + ["round\(round)"]))
      try fixture.index.agree(with: [file])
    }
    #expect(try fixture.found("round5") == [1] && fixture.found("round4").isEmpty)
  }

  @Test func aDamagedIndexBeginsAnew() throws {
    let fixture = try Fixture()
    let path = fixture.folder.path("other.sqlite")
    try Directories.replace(
      path, with: Array("no database at all, but some words".utf8) + Array(repeating: 7, count: 5000))
    let index = try TranscriptIndex(
      path: path, folders: .init(own: fixture.folder.path("own"), copies: fixture.folder.path("copies")))
    let file = try fixture.put(1, Self.vtt(["fog"]))
    #expect(try index.add(file))
    #expect(try index.search(#require(TranscriptQuery(["fog"])), limit: 5) == [Fixture.key(1)])
  }

  /// Few words, so that all of them meet often; phrases reach from one half minute into the next.
  @Test(arguments: 0..<4) func itAgreesWithAScanOfTheTexts(seed: Int) throws {
    let fixture = try Fixture()
    var random = SeededGenerator(seed: UInt64(seed) + 1)
    let words = ["fog", "bell", "the", "on", "sea", "calm"]
    var texts: [Int: [[String]]] = [:]
    for number in 1...12 {
      let lines = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        (0..<Int.random(in: 1...9, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
      }
      texts[number] = lines
      let isJSON = number % 4 == 0
      let text =
        isJSON
        ? "{\"segments\": ["
          + lines.enumerated().map {
            "{\"startTime\": \($0 * 10), \"endTime\": \($0 * 10 + 10), \"body\": \"\($1.joined(separator: " "))\"}"
          }.joined(separator: ",") + "]}" : Self.vtt(lines.map { $0.joined(separator: " ") })
      try fixture.add(number, text)
    }
    for _ in 0..<60 {
      let phrase = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        words.randomElement(using: &random) ?? ""
      }
      let expected = texts.filter { _, lines in
        let all = lines.flatMap(\.self)
        return all.indices.contains { all[$0...].starts(with: phrase) }
      }
      #expect(try fixture.found(phrase.joined(separator: " ")) == expected.keys.sorted(by: >), "\(phrase)")
      for (number, lines) in expected {
        // A cue's time for each cue in which it begins.
        let flat = lines.enumerated().flatMap { line, words in words.map { (line, $0) } }
        let starts = Set(
          flat.indices.filter { flat[$0...].lazy.map(\.1).starts(with: phrase) }.map { flat[$0].0 * 10_000 })
        #expect(try fixture.hits(number, phrase.joined(separator: " ")).map(\.start) == starts.sorted())
      }
    }
  }
}
