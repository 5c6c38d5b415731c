import PodcastModel
import TestSupport
import Testing

@Suite struct UniqueNamesTests {
  @Test func `The same name twice gets a number`() {
    var names = UniqueNames()
    #expect(names.claim("A") == "A")
    #expect(names.claim("A") == "A (2)")
    #expect(names.claim("a") == "a (3)")
    #expect(names.claim("A (2)") == "A (2) (2)")
    names.remove("A")
    #expect(names.claim("A") == "A")
  }

  @Test(arguments: [
    ("É", "é"), ("e\u{301}", "É"), ("Straße", "STRASSE"), ("ΣΑΣ", "σας"), ("ſ", "S"), ("ǅ", "ǆ"), ("ﬁ", "FI"),
    ("\u{1E9E}", "ss"), ("K", "k"),
  ])
  func `Names that differ by case or normalization only are one`(first: String, second: String) {
    var names = UniqueNames(taken: [first])
    #expect(names.contains(second))
    #expect(names.claim(second) == second + " (2)")
  }

  @Test func `A number keeps within the limit`() {
    var names = UniqueNames()
    let long = EpisodeName.stem(published: 0, title: String(repeating: "日", count: 100))
    for expected in ["日日", " (2)", " (3)"] {
      let name = names.claim(long)
      #expect(name.hasSuffix(expected) && NameRules.violations(name) == [])
    }
  }

  @Test func `Ten thousand equal names cost no more than ten thousand different ones`() {
    var names = UniqueNames()
    var given: Set<String> = []
    for _ in 0..<10_000 { given.insert(names.claim("2024-01-03 - Untitled")) }
    #expect(given.count == 10_000 && given.contains("2024-01-03 - Untitled (10000)"))
  }

  @Test func `Random claims never give one name twice`() {
    var random = SeededGenerator(seed: 7)
    var names = UniqueNames()
    var keys: Set<String> = []
    for _ in 0..<5000 {
      let letters = ["a", "A", "é", "E\u{301}", "ß", "SS", " (2)", "x"]
      let title = (0..<Int.random(in: 1...4, using: &random))
        .map { _ in letters.randomElement(using: &random) ?? "" }.joined()
      let name = names.claim(EpisodeName.stem(published: 0, title: title))
      #expect(keys.insert(UniqueNames.key(name)).inserted, "\(name)")
    }
  }
}
