import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Nothing that a host sends moves the cursor, hides what stands beside it or leaves its line.
@Suite struct HostileTextTests {
  private static let hostile =
    "A\u{1B}[2Jb\u{9B}1Ac\u{202E}d\u{2066}e\u{7F}f\u{2028}g\nh\ri\u{85}j\u{7}k\u{8}l\u{FEFF}m\u{1B}]0;n\u{90}o"

  private func check(_ output: String, json: Bool, _ place: SourceLocation = #_sourceLocation) throws {
    let bad = output.unicodeScalars.filter { scalar in
      scalar.properties.generalCategory == .control && scalar != "\n"
        || [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
    #expect(bad.isEmpty, "\(bad.map(\.value))", sourceLocation: place)
    // It is there, on one line.
    let last = json ? "o" : "no"
    #expect(
      output.split(separator: "\n").contains { $0.contains("A") && $0.contains(last) }, sourceLocation: place)
  }

  @Test(arguments: [[], ["--json"]])
  func `A feed's texts are shown on their line`(options: [String]) throws {
    let environment = try TestEnvironment()
    let text = Self.hostile.unicodeScalars.map { "&#\($0.value);" }.joined()
    let title = text.replacing("&#27;", with: "").replacing("&#7;", with: "").replacing("&#8;", with: "")
    try environment.home.write(
      "feed.xml",
      """
      <rss><channel><title>\(title)</title><author>\(title)</author><link>https://h/\(title)</link>
      <item><title>\(text)</title><enclosure url="https://h/1.mp3" type="\(title)/x"/></item></channel></rss>
      """)
    let result = try Products.run(
      "podcastfs", ["feed"] + options + [environment.home.path("feed.xml")], in: environment)
    #expect(result.end == .exit(0))
    try check(result.output, json: !options.isEmpty)
  }

  @Test(arguments: [[], ["--json"]])
  func `A search's texts are shown on their line`(options: [String]) throws {
    let origin = try OriginServer()
    let directory = DirectoryService(on: origin)
    directory.list([.init("T\(Self.hostile)", author: Self.hostile, feedURL: origin.url("/feed"))])
    let environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": directory.url])
    let result = try Products.run("podcastfs", ["search"] + options + ["T"], in: environment)
    #expect(result.end == .exit(0))
    try check(result.output, json: !options.isEmpty)
  }

  @Test func `An error's text is one line`() throws {
    let environment = try TestEnvironment()
    try environment.home.write("x.xml", "<a\u{202E}b>")
    let result = try Products.run(
      "podcastfs", ["feed", environment.home.path("x.xml")], in: environment)
    #expect(result.end == .exit(1) && result.errors.split(separator: "\n").count == 1)
    #expect(!result.errors.unicodeScalars.contains("\u{202E}"))
  }

  @Test func `The log keeps one line a message`() throws {
    let environment = try TestEnvironment()
    LogFile(environment.home.path("log")).write(Self.hostile)
    try check(
      String(decoding: try Directories.read(environment.home.path("log")), as: UTF8.self), json: false)
  }
}
