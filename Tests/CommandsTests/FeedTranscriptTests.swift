import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Transcripts of each format, as hosts give them: listed, read and searched in a mount.
@Suite(.enabled(if: canMount, "this user cannot mount")) struct FeedTranscriptTests {
  private struct Given: Sendable {
    var type: String
    var ending: String
    var body: [UInt8]
    /// As its host says it; nil for `type`.
    var mediaType: String?
    var isPacked = false

    init(_ type: String, _ ending: String, _ body: String) {
      (self.type, self.ending) = (type, ending)
      self.body = Array(body.utf8)
    }

    func given(as mediaType: String) -> Given {
      var given = self
      given.mediaType = mediaType
      return given
    }
  }

  private static let captions = "WEBVTT\n\n00:01:05.000 --> 00:01:09.000\n<v Ada>Fog on the breakwater.\n"
  private static let json =
    #"{"version":"1.0.0","segments":[{"speaker":"Ada","startTime":65.5,"endTime":69,"body":"Fog on the breakwater."}]}"#
  private static let html = "<cite>Ada:</cite>\n<time>1:05</time>\n<p>Fog on the <b>breakwater</b>.</p>\n"

  private static var sound: [Given] {
    let western = Given("text/vtt", ".vtt", captions.replacing("Ada", with: "Åsa"))
    var latin1 = western.given(as: "text/vtt; charset=iso-8859-1")
    latin1.body = String(decoding: western.body, as: UTF8.self).unicodeScalars.map { UInt8($0.value) }
    var packed = Given("application/json", ".json", json)
    packed.isPacked = true
    return [
      Given("text/vtt", ".vtt", captions),
      Given("application/srt", ".srt", "1\r\n00:01:05,000 --> 00:01:09,000\r\nFog on the breakwater.\r\n"),
      Given("application/json", ".json", json), Given("text/html", ".html", html),
      Given("text/plain", ".txt", "[1:05] Fog on the breakwater.\n"), latin1, packed,
      // Types that hosts give by mistake.
      Given("text/vtt", ".vtt", captions).given(as: "text/html"),
      Given("application/json", ".json", json).given(as: "text/plain"),
    ]
  }

  private static var useless: [Given] {
    let page = "<!DOCTYPE html><title>Log in</title><p>Fog on the breakwater.</p>"
    let bomb = [UInt8](repeating: 32, count: (16 << 20) + 1)
    var large = Given("text/vtt", ".vtt", "")
    large.body = bomb
    var packed = Given("text/plain", ".txt", "")
    packed.body = Gzip.stored(Array("fog on the breakwater".utf8))
    return [
      Given("application/json", ".json", page).given(as: "text/html"),
      Given("text/vtt", ".vtt", page).given(as: "text/vtt"), Given("text/html", ".html", page), large, packed,
    ]
  }

  /// A mount of a podcast with an episode for each.
  private func mount(_ given: [Given]) throws -> MountedCatalogue {
    let mounted = try MountedCatalogue()
    var feed = TestFeed(MountedCatalogue.podcast)
    for (index, given) in given.enumerated() {
      var item = TestFeed.Item(
        "Part \(index)", url: mounted.origin.url("/\(index).mp3"), guid: "t\(index)",
        published: 1_704_067_200 + Int64(index) * 86_400, length: 300_000)
      item.more = """
        <podcast:transcript url="\(mounted.origin.url("/transcript/\(index)"))" type="\(given.type)"/>
        """
      feed.items.append(item)
      var resource = OriginResource(given.body, mediaType: given.mediaType ?? given.type)
      resource.behaviour.compresses = given.isPacked
      mounted.origin.serve("/transcript/\(index)", resource)
    }
    mounted.origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    let refreshed = try mounted.run("refresh")
    #expect(refreshed.end == .exit(0), "\(refreshed.errors)")
    return mounted
  }

  private func path(_ index: Int, _ given: Given, in mounted: MountedCatalogue) throws -> String {
    let names = try Directories.names(in: "\(mounted.root)/Subscriptions/\(MountedCatalogue.podcast)")
    let name = names.first { $0.hasSuffix("- Part \(index)\(given.ending)") }
    return "\(mounted.root)/Subscriptions/\(MountedCatalogue.podcast)/\(try #require(name, "\(names)"))"
  }

  @Test func eachFormatIsListedReadAndSearched() throws {
    let mounted = try mount(Self.sound)
    for (index, given) in Self.sound.enumerated() {
      let bytes = try Directories.read(try path(index, given, in: mounted))
      // Players take UTF-8.
      let text = try #require(String(validating: bytes, as: UTF8.self), "\(index)")
      #expect(text.contains("breakwater") && !text.contains("\u{FFFD}"), "\(index): \(text)")
      #expect(!text.contains("sa>") || text.contains("<v Åsa>"), "\(text)")
      // Each in its own folder of hits.
      let call = ["find", "transcript:\"fog on the breakwater\"", "show:\"Harbour Lights\"", "sort:oldest"]
      #expect(
        try eventually {
          let output = try Products.run("podcastfs", call, in: mounted.environment).output
          return output.contains("- Part \(index).mp3:1:05: ")
            && output.split(separator: "\n").count == index + 1
        }, "\(index) \(given.ending)")
    }
    let search = "\(mounted.root)/Search/transcript:breakwater"
    try Directories.create(search)
    #expect(try eventually { try Directories.names(in: search).count == Self.sound.count })
    for name in try Directories.names(in: search) {
      #expect(try mounted.attribute("hits", "\(search)/\(name)")?.hasPrefix("65") == true, "\(name)")
    }
  }

  @Test func whatIsNoTranscriptFailsAndTheLogSaysWhy() throws {
    let mounted = try mount(Self.useless)
    for (index, given) in Self.useless.enumerated() {
      let path = try path(index, given, in: mounted)
      let error = #expect(throws: PosixError.self, "\(index)") { try Directories.read(path) }
      #expect(error?.errno == (given.body.count > 16 << 20 ? .EFBIG : .EPROTO), "\(index)")
      #expect(Directories.exists(path), "\(index)")
    }
    let log = String(decoding: try Directories.read("\(mounted.root)/.podcastfs/log"), as: UTF8.self)
    #expect(log.contains("127.0.0.1 sent more than 16777216 bytes"), "\(log)")
    for part in [0, 1, 2, 4] {
      let name = try path(part, Self.useless[part], in: mounted).split(separator: "/").last ?? ""
      #expect(log.contains("127.0.0.1 sent no transcript for \(name)"), "\(log)")
    }
    #expect(try mounted.run("find", "transcript:fog").end == .exit(1))
  }
}
