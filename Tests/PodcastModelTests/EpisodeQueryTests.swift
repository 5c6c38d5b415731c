import PodcastModel
import Testing

struct EpisodeQueryTests {
  private let now: Int64 = 1_780_000_000

  private func query(_ text: String) throws -> EpisodeQuery { try #require(try EpisodeQuery(parsing: text)) }

  @Test(arguments: [
    "harbour lights", "country:de news", "limit:20 jazz", "source:apple", "id:1092957894", "-music",
    "note: this",
    "c:programs", "\"is:played\"", "-newer:7d",
  ])
  func otherWordsSearchForPodcasts(text: String) throws {
    #expect(try EpisodeQuery(parsing: text) == nil)
  }

  @Test func everyTermIsRead() throws {
    var expected = EpisodeQuery()
    expected.words = "fog horn"
    expected.shows = ["Harbour Lights"]
    expected.people = ["Ann Lee"]
    expected.transcript = [.init("on the breakwater", isExact: true), .init("keeper", isExact: false)]
    expected.states = [.unplayed, .followed]
    expected.excludedStates = [.cached, .hidden]
    expected.newer = .ago(7 * 86_400)
    expected.older = .at(1_767_225_600)
    expected.shorter = 1800
    expected.longer = 3600
    expected.season = 2
    expected.order = .oldest
    expected.limit = 200
    let text = """
      episode: fog is:unplayed IS:Followed -is:cached show:"Harbour  Lights" person:“Ann Lee” newer:7d older:2026-01-01 \
      shorter:30m longer:1h season:2 sort:oldest limit:200 transcript:"on the breakwater" transcript:keeper horn
      """
    #expect(try query(text) == expected)
  }

  @Test func aWordBehindTheColonIsAWordOfTheText() throws {
    #expect(try query("episode:fog horn").words == "fog horn")
    #expect(try query("episode:\"fog horn\" c:x").words == "fog horn c:x")
    #expect(try query("episode:").words.isEmpty)
    #expect(try query("episode: country:germany \"lang:de fog\"").words == "country:germany lang:de fog")
  }

  @Test func theLimitIsAThousandAtMost() throws {
    #expect(try query("is:played").limit == 1000)
    #expect(try query("is:played limit:5000").limit == 1000)
  }

  @Test(arguments: [
    "newer:soon", "newer:", "newer:7", "older:2026-02-30", "older:2026-1-1", "shorter:x", "longer:0",
    "season:two",
    "season:-1", "is:new", "is:", "is:downloading", "sort:rank", "sort:queue", "is:played limit:0",
    "is:played limit:many", "show:\"\"", "person:", "transcript:", "episode:fog country:de",
    "is:played source:apple,local", "id:1092957894 show:lights", "lang:de is:cached",
  ])
  func aMalformedTermIsRefusedAndNamed(text: String) {
    let error = #expect(throws: EpisodeQuery.Malformed.self) { try EpisodeQuery(parsing: text) }
    #expect(error?.description.contains(": ") == true)
  }

  private func facts(_ change: (inout EpisodeFacts) -> Void = { _ in }) -> EpisodeFacts {
    var facts = EpisodeFacts(
      id: 1, title: "A quiet harbour", show: "Harbour Lights: Stories", published: now - 86_400)
    change(&facts)
    return facts
  }

  @Test(arguments: [
    ("is:unplayed", true), ("is:started", false), ("is:played", false), ("-is:played", true),
    ("is:cached", false),
    ("-is:cached", true), ("is:kept", false), ("is:followed", false), ("is:queued", false),
    ("newer:2d", true),
    ("newer:12h", false), ("older:2d", false), ("older:12h", true), ("shorter:30m", false),
    ("longer:1s", false),
    ("season:1", false), ("show:lights", true), ("show:\"harbour lights\"", true),
    ("show:\"lights harbour\"", false),
    ("show:light", false), ("show:HARBOUR show:stories", true), ("show:harbour show:other", false),
  ])
  func aPlainEpisodeMatches(text: String, expected: Bool) throws {
    #expect(try query(text).matches(facts(), now: now) == expected)
  }

  @Test func statesAreCombined() throws {
    let started = facts {
      $0.download = .complete
      $0.marks = [.followed, .kept, .begun]
      $0.queuePlace = 3
      $0.duration = 1800
      $0.season = 2
    }
    let text =
      "is:unplayed is:started is:cached is:kept is:followed is:queued shorter:30m longer:30m season:2"
    #expect(try query(text).matches(started, now: now))
    let played = facts { $0.marks = [.played, .begun] }
    #expect(try !query("is:started").matches(played, now: now))
    #expect(try query("is:played -is:started").matches(played, now: now))
  }

  @Test func theClockAloneChangesAMatchAtTheMomentThatIsForetold() throws {
    for text in ["newer:2d", "older:2d", "newer:3d older:2d"] {
      let query = try query(text)
      var moment = now
      while let next = query.nextChange(of: facts(), after: moment) {
        #expect(query.matches(facts(), now: next - 1) == query.matches(facts(), now: moment))
        #expect(query.matches(facts(), now: next) != query.matches(facts(), now: next - 1))
        moment = next
      }
      #expect(moment > now)
    }
    #expect(try query("newer:2026-01-01").nextChange(of: facts(), after: now) == nil)
  }

  @Test(arguments: [
    ("newest", [3, 2, 1]), ("oldest", [1, 2, 3]), ("title", [2, 3, 1]), ("shortest", [2, 1, 3]),
  ])
  func theOrderIsTotal(order: String, expected: [Int64]) throws {
    let titles = ["c", "a", "b"]
    let lengths = [600, 60, nil]
    let all = (0..<3).map { place in
      var facts = EpisodeFacts(
        id: Int64(place + 1), title: titles[place], show: "", published: place == 0 ? 1 : 2)
      facts.duration = lengths[place]
      return facts
    }
    let query = try query("is:unplayed sort:\(order)")
    for shuffled in [all, all.reversed()] {
      #expect(shuffled.sorted(by: query.isOrdered).map(\.id) == expected)
    }
  }
}
