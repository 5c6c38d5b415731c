import PosixKit

/// The real feeds of the parser's tests.
let corpusFeeds: [String] = ((try? Directories.names(in: corpusDirectory)) ?? []).sorted()

private let corpusDirectory = fixture("../../FeedKitTests/Fixtures/feeds")

extension FakeWeb.Page {
  init(corpus name: String) throws {
    self.init(
      headers: [("Content-Type", "text/xml")], body: try Directories.read("\(corpusDirectory)/\(name)"))
  }
}
