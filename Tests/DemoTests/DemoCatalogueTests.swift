import Demo
import FoundationEssentials
import HTTPKit
import TestSupport
import Testing

@Suite struct DemoCatalogueTests {
  let demo: DemoCatalogue
  let client = HTTPClient(name: "http-test")

  init() throws { demo = try DemoCatalogue(port: 0, audioRate: 10_000_000) }

  private struct Answer: Decodable {
    struct Hit: Decodable {
      var collectionName: String
      var artistName: String
      var feedUrl: String
      var artworkUrl600: String
      var trackCount: Int
    }
    var resultCount: Int
    var results: [Hit]
  }

  private func get(_ url: String) throws -> HTTPResponse {
    let answer = try #require(client.answer(.local(url))).get()
    try #require(answer.head.status == 200)
    return answer
  }

  private func search(_ query: String) throws -> [Answer.Hit] {
    let answer = try JSONDecoder().decode(Answer.self, from: Data(get(demo.searchURL + query).body))
    #expect(answer.resultCount == answer.results.count)
    return answer.results
  }

  /// The values of an attribute in the text of a feed.
  private func values(_ attribute: String, in text: String) -> [String] {
    text.split(separator: " \(attribute)=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
  }

  private func values(element: String, in text: String) -> [String] {
    text.split(separator: "<\(element)>").dropFirst().map { String($0.prefix { $0 != "<" }) }
  }

  @Test(arguments: [
    ("", 3), ("?term=", 3), ("?term=harbour%20lights&media=podcast", 1), ("?term=LIGHTS", 1),
    ("?term=ada+quay", 1), ("?term=i", 3), ("?term=i&limit=2", 2), ("?term=harbour+trains", 0),
    ("?term=zzz", 0),
  ])
  func aSearchFindsPodcastsByTheWordsOfTitleAndAuthor(_ query: String, _ count: Int) throws {
    #expect(try search(query).count == count)
  }

  @Test func everyFeedNamesItsEpisodesWithTheirTrueLengthsAndDurations() throws {
    var total = 0
    for hit in try search("") {
      let answer = try get(hit.feedUrl)
      #expect(answer.head.mediaType == "application/rss+xml")
      let feed = String(decoding: answer.body, as: UTF8.self)
      let urls = values("url", in: feed).filter { $0.hasSuffix(".mp3") }
      let lengths = values("length", in: feed)
      let durations = values(element: "itunes:duration", in: feed)
      #expect(urls.count == 4 && lengths.count == 4 && durations.count == 4)
      #expect(hit.trackCount == 4)
      for (url, (length, duration)) in zip(urls, zip(lengths, durations)) {
        let audio = try get(url)
        #expect(audio.head.mediaType == "audio/mpeg")
        #expect(String(audio.body.count) == length)
        let seconds = try #require(MP3.seconds(audio.body))
        #expect(abs(seconds - (Double(duration) ?? 0)) < 1)
        total += audio.body.count
      }
      #expect(try get(hit.artworkUrl600).body.starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }
    #expect(total < 1_000_000)
  }

  @Test func oneEpisodeHasATranscriptAndChapters() throws {
    let hit = try #require(try search("?term=harbour").first)
    let feed = String(decoding: try get(hit.feedUrl).body, as: UTF8.self)
    let urls = values("url", in: feed)
    let transcript = try get(#require(urls.first { $0.hasSuffix(".vtt") }))
    #expect(transcript.head.mediaType == "text/vtt")
    #expect(transcript.body.starts(with: "WEBVTT\n\n00:00:00.000 --> 00:00:04.000\n".utf8))
    struct Chapters: Decodable {
      struct Chapter: Decodable { var startTime: Int }
      var chapters: [Chapter]
    }
    let chapters = try get(#require(urls.first { $0.hasSuffix(".json") })).body
    #expect(
      try JSONDecoder().decode(Chapters.self, from: Data(chapters)).chapters.map(\.startTime) == [0, 12])
  }

  @Test func anEpisodeIsServedInPartAndSlowly() throws {
    let slow = try DemoCatalogue(port: 0, audioRate: 12_000)
    let address = slow.searchURL.dropLast("/search".count)
    let range = HTTPRequest.local(address + "/harbour/episode-1.mp3") {
      $0.headers = [("Range", "bytes=96000-96099")]
    }
    let part = try #require(client.answer(range)).get()
    #expect(part.head.status == 206)
    #expect(part.body.count == 100)
    #expect(part.head.strongETag != nil)
    // At 12,000 bytes a second 96,467 do not come within half a second.
    let whole = HTTPRequest.local(address + "/harbour/episode-1.mp3") { $0.totalTimeout = 0.5 }
    #expect(client.answer(whole)?.failure?.code == .timedOut)
    slow.stop()
  }

  @Test func aTakenPortGivesWayToAnother() throws {
    let first = try DemoCatalogue(port: 0)
    let port = try #require(
      UInt16(first.searchURL.dropLast("/search".count).split(separator: ":").last ?? ""))
    let second = try DemoCatalogue(port: port)
    #expect(second.searchURL != first.searchURL)
    #expect(try get(second.searchURL).head.status == 200)
    first.stop()
    second.stop()
  }
}
