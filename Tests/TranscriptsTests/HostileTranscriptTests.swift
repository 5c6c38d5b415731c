import PodcastModel
import PosixKit
import TestSupport
import Testing
import Transcripts

/// What a host may give in the place of a transcript.
@Suite struct HostileTranscriptTests {
  private let home: TemporaryDirectory
  private let index: TranscriptIndex

  init() throws {
    home = try TemporaryDirectory()
    try Directories.create(home.path("copies"))
    index = try TranscriptIndex(
      path: home.path("transcripts.sqlite"),
      folders: .init(own: home.path("own"), copies: home.path("copies")))
  }

  /// Indexes a transcript of a feed.
  /// - Returns: where it says "fog".
  private func hits(_ bytes: [UInt8]) throws -> [TranscriptHit] {
    let key = MediaKey(address: "http://media.example/1.mp3")
    try Directories.replace(home.path("copies/1"), with: bytes)
    try index.add(TranscriptFile(key: key, name: "1", isOwn: false))
    let query = try #require(TranscriptQuery(["fog"]))
    #expect(try index.search(query, limit: 10).count <= 1)
    return try index.hits(of: key, query)
  }

  private static let caption = "WEBVTT\n\n00:01.000 --> 00:02.000\n"

  /// Many small pieces: what is looked for again from each place would take hours.
  @Test(arguments: [
    (caption, "<a"), (caption, "</"), (caption, "{\\"), (caption, "&"), (caption, "&#"), (caption, "<v fog"),
    ("WEBVTT\n\n", "00:01.000 --> 00:02.000\n…\n\n"), ("WEBVTT\n\n", "00:01.000 --> 00:02.000\nfog\n\n"),
    ("WEBVTT\n\n", "9999:59:59.999 --> 0:00\nfog\n\n"), ("WEBVTT\n\n00:01.000 --> ", "1:"), ("WEBVTT", "\r"),
    ("", "["), ("", "{\"segments\":"), ("[", "{\"body\":\"fog\",\"startTime\":1e308,\"endTime\":-1},"),
    ("{\"segments\":[", "1,"), ("", "<time>"), ("", "<cite>fog</cite><p>"), ("<p>", "<script>"),
    ("<time>", "<p a=\""), ("<cite>", "<!--"), ("<cite>", "&lt"), ("", "[1:00:00]"), ("", "(1:"),
    ("", "fog\n"),
    ("", "\u{E000}fog "), ("", "fogfogfog"), ("", "霧"), ("", "\u{301}"),
  ])
  func whatAHostRepeatsCostsItsLengthAndNoMore(start: String, piece: String) throws {
    var text = start
    text.reserveCapacity(1 << 17)
    while text.utf8.count < 100_000 { text += piece }
    let bytes = Array(text.utf8)
    _ = TranscriptText.utf8(bytes, isPage: true)
    _ = try hits(bytes)
  }

  @Test func aJSONOfTooManyValuesHasNone() throws {
    let sound = #"{"segments":[{"startTime":1,"endTime":2,"body":"fog"}]}"#
    #expect(try hits(Array(sound.utf8)).map(\.start) == [1000])
    let many = sound.dropLast(2) + String(repeating: ",1", count: 500_000) + "]}"
    #expect(try hits(Array(many.utf8)).isEmpty)
  }

  @Test(arguments: [
    "<html><body><p>fog</p></body></html>", "<!DOCTYPE html><script><time></script><p>fog", "<p>fog",
  ])
  func aPageThatNamesNeitherSpeakersNorTimesIsNone(page: String) {
    #expect(TranscriptText.utf8(Array(page.utf8), isPage: true) == nil)
    let marked = Array((page + "<time>0:01</time>").utf8)
    #expect(TranscriptText.utf8(marked, isPage: true) != nil)
    #expect(TranscriptText.utf8(marked, isPage: false) == nil)
  }

  @Test func whatIsNoTextIsNone() {
    let gzip: [UInt8] = [0x1F, 0x8B, 8, 1, 2, 3]
    for bytes in [
      gzip, [0], Array("WEBVTT".utf8) + [0], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0],
    ] {
      #expect(TranscriptText.utf8(bytes, isPage: true) == nil)
    }
    #expect(TranscriptText.utf8([], isPage: false)?.isEmpty == true)
  }

  @Test func otherCharacterSetsBecomeUTF8() throws {
    let text = "WEBVTT\n\n00:01.000 --> 00:02.000\nNebel über’m Café\n"
    let utf8 = Array(text.utf8)
    let little: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big: [UInt8] = [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let western = text.unicodeScalars.map { $0 == "’" ? 0x92 : UInt8($0.value) }
    for bytes in [utf8, little, big, western] {
      #expect(TranscriptText.utf8(bytes, isPage: false).map { String(decoding: $0, as: UTF8.self) } == text)
    }
    // The half of a character at the end.
    #expect(TranscriptText.utf8(little.dropLast(1), isPage: false) != nil)
    #expect(TranscriptText.utf8([0xFF, 0xFE], isPage: false)?.isEmpty == true)
    #expect(TranscriptText.utf8([0xFF, 0xFE, 0x00], isPage: false)?.isEmpty == true)
  }
}
