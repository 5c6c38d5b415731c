import FoundationEssentials
import HTTPKit
import TestSupport
import Testing

@Suite struct DirectoryServiceTests {
  struct Answer: Decodable {
    struct Hit: Decodable {
      var collectionName: String
      var feedUrl: String?
    }
    var resultCount: Int
    var results: [Hit]
  }

  private func get(_ url: String) throws -> HTTPResponse {
    try #require(HTTPClient(name: "http-test").answer(.local(url))).get()
  }

  @Test func itFindsPodcastsByTheirWordsAndRecordsTheQuery() throws {
    let origin = try OriginServer()
    let directory = DirectoryService(on: origin)
    directory.list([
      .init("Harbour Lights", author: "Ada", feedURL: "http://harbour.example/feed"),
      .init("Harbour \"Nights\"", author: "Bo", feedURL: nil), .init("Häfen", feedURL: "http://h.example/"),
    ])
    let answer = try get("\(directory.url)?term=harbour+LIGHTS&media=podcast&limit=5")
    let decoded = try JSONDecoder().decode(Answer.self, from: Data(answer.body))
    #expect(decoded.results.map(\.collectionName) == ["Harbour Lights"])
    #expect(decoded.results[0].feedUrl == "http://harbour.example/feed")
    #expect(directory.queries == [["term": "harbour LIGHTS", "media": "podcast", "limit": "5"]])
    let both = try get("\(directory.url)?term=harbour")
    #expect(try JSONDecoder().decode(Answer.self, from: Data(both.body)).resultCount == 2)
    let none = try get("\(directory.url)?term=h%C3%A4fen+x")
    #expect(try JSONDecoder().decode(Answer.self, from: Data(none.body)).results.isEmpty)
  }

  @Test func itThrottlesAndTalksNonsenseWhereItIsTold() throws {
    let origin = try OriginServer()
    let directory = DirectoryService(on: origin)
    directory.behave(.with { $0.status = 429 })
    #expect(try get(directory.url + "?term=x").head.status == 429)
    directory.behave(OriginBehaviour())
    directory.answer("{\"results\": [")
    #expect(try get(directory.url + "?term=x").body == Array("{\"results\": [".utf8))
  }
}
