import PodcastModel
import Testing

@Suite struct SearchQueryTests {
  @Test func parametersAreTakenOutOfTheWords() {
    let query = SearchQuery(parsing: " harbour  country:DE limit:500 lights source:local,apple lang:en_GB")
    #expect(query.terms == "harbour lights")
    #expect(query.country == "de")
    #expect(query.limit == 200)
    #expect(query.sources == ["local", "apple"])
    #expect(query.language == "en-gb")
  }

  @Test(arguments: [
    "Mission: impossible", "country:", "country:germany", "limit:0", "limit:many", "source:nowhere", "a:b:c",
    "lang:日本", "http://a.example/",
  ])
  func otherWordsWithAColonStayWords(text: String) {
    #expect(SearchQuery(parsing: text) == SearchQuery(terms: text))
  }

  @Test func theLastOfSeveralCounts() {
    #expect(SearchQuery(parsing: "a country:de country:fr limit:1 limit:2").country == "fr")
    #expect(SearchQuery(parsing: "source:apple source:local source:apple").sources == ["apple", "local"])
    #expect(SearchQuery(parsing: "country:de").terms == "")
  }
}
