import PodcastModel
import Testing

@Suite struct NameJoinerTests {
  /// Names that are spelled with joiners.
  @Test(arguments: [
    "می\u{200C}خواهم بدانم", "کتاب\u{200C}ها", "رَه\u{200C}بَر",
    "क्\u{200D}ष", "ക്\u{200C}ഷ", "അവന്\u{200D}", "අ ක්\u{200D}ෂ",
    "👨\u{200D}👩\u{200D}👧\u{200D}👦 at home", "🏳\u{FE0F}\u{200D}🌈", "👩🏽\u{200D}🚀", "❤\u{FE0F}\u{200D}🔥 songs",
  ])
  func `Joiners stay where a word or an emoji is spelled with them`(title: String) {
    #expect(Array(EpisodeName.directoryName(title: title).unicodeScalars) == Array(title.unicodeScalars))
    #expect(EpisodeName.isDirectoryName(title))
  }

  @Test(arguments: [
    ("foo\u{200C}bar", "foobar"), ("foo\u{200D}bar", "foobar"), ("\u{200D}x\u{200C}", "x"),
    ("دا\u{200C}ر", "دار"), ("می\u{200C} خواهم", "می خواهم"), ("می\u{200C}", "می"),
    ("می\u{200C}\u{200C}خواهم", "می\u{200C}خواهم"), ("😀\u{200D}x", "😀x"),
    ("1\u{FE0F}\u{20E3} x", "1\u{20E3} x"),
    ("☎\u{FE0F} calls", "☎ calls"), ("a\u{200B}b\u{2060}c\u{FEFF}d", "abcd"),
  ])
  func `Joiners that join nothing are left out`(title: String, expected: String) {
    let name = EpisodeName.directoryName(title: title)
    #expect(Array(name.unicodeScalars) == Array(expected.unicodeScalars))
    #expect(EpisodeName.directoryName(title: name) == name)
  }

  @Test func `A cut leaves no joiner at the end`() {
    let name = EpisodeName.directoryName(title: String(repeating: "ه\u{200C}", count: 150) + "ه")
    #expect(name.unicodeScalars.last == "ه" && name.unicodeScalars.count < 120)
  }
}
