internal import Catalog
internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

enum FeedCommand: Command {
  static let usage = """
    podcastfs feed [--json] FEED-URL|FILE

    Shows how podcastfs reads a feed: the podcast, its episodes with the names that they would get, and warnings for what was
    repaired or left out. It stores nothing.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let report = try report(on: arguments.operands()[0])
    StandardStreams.show(report.json) { StandardStreams.tell(report.text, hanging: 2) }
  }

  private static func report(on source: String) throws -> FeedReport {
    do {
      let addresses = Self.addresses(source)
      if addresses.isEmpty {
        let feed = try FeedReader.program().parse(try FeedBody(file: source), baseURL: nil, httpCharset: nil)
        return FeedReport(feed: feed, feedURL: nil, now: wallClockSeconds())
      }
      for address in addresses.dropLast() {
        if let report = try? report(at: address) { return report }
      }
      return try report(at: addresses[addresses.count - 1])
    } catch FeedError.storage(let error) {
      let words = error.description
      throw words.contains(source) ? CommandFailure(words) : CommandFailure(of: source, error)
    } catch let error as FeedError {
      throw CommandFailure("\(WebAddress(source).shown) \(error)")
    }
  }

  /// The addresses that an operand may mean, to be tried in this order; none for a file.
  private static func addresses(_ source: String) -> [WebAddress] {
    if Directories.exists(source) { return [] }
    // A mere name is a file that is not there.
    return source.contains { ":/".contains($0) } ? SubscriptionAddress.typed(source) : []
  }

  private static func report(at url: WebAddress) throws -> FeedReport {
    let settings = try CommandSettings.load().settings
    var request = HTTPRequest(url: url.forRequest, settings)
    request.allowsPrivateHosts = true
    request.acceptsCompression = true
    request.decompresses = false
    request.maximumBody = Int64(FeedLimits().document)
    guard let result = Waiting.answer(to: request, within: 300) else {
      throw CommandFailure("no answer within five minutes")
    }
    let response = try result.get()
    guard (200..<300).contains(response.head.status) else {
      throw CommandFailure(HTTPStatus.text(response.head.status, from: url.host ?? "the host"))
    }
    let feed = try FeedReader.program().parse(
      FeedBody(response.body), baseURL: WebAddress(response.head.effectiveURL),
      httpCharset: response.head.charset)
    return FeedReport(feed: feed, feedURL: url, now: wallClockSeconds())
  }
}
