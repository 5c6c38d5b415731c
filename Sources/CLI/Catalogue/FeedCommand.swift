internal import Catalog
internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

extension Command {
  static let feed = Command(
    """
    podcastfs feed [--json] FEED-URL|FILE

    Shows how podcastfs reads a feed: the podcast, its episodes with the names that they would get, and warnings for what was
    repaired or left out. It stores nothing.
    """
  ) { arguments in
    let report = try report(on: arguments.operands()[0])
    StandardStreams.show(report.json) { StandardStreams.tell(report.text, hanging: 2) }
  }

  private static func report(on source: String) throws -> FeedReport {
    // A mere name is a file that is not there.
    let mayBeAddress = source.contains { ":/".contains($0) } && !Directories.exists(source)
    do {
      let addresses = mayBeAddress ? SubscriptionAddress.typed(source) : []
      guard let last = addresses.last else {
        return try report(FeedBody(file: source), from: nil, nil)
      }
      for address in addresses.dropLast() {
        if let report = try? report(at: address) { return report }
      }
      return try report(at: last)
    } catch FeedError.storage(let error) {
      let words = error.description
      throw words.contains(source) ? CommandFailure(words) : CommandFailure(of: source, error)
    } catch let error as FeedError {
      throw CommandFailure("\(WebAddress(source).shown) \(error)")
    }
  }

  private static func report(at url: WebAddress) throws -> FeedReport {
    var request = HTTPRequest(url: url.forRequest, try CommandSettings.load().settings)
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
    return try report(FeedBody(response.body), from: url, response.head)
  }

  private static func report(
    _ body: FeedBody, from url: WebAddress?, _ head: HTTPResponseHead?
  ) throws -> FeedReport {
    let feed = try FeedReader.program().parse(
      body, baseURL: head.map { WebAddress($0.effectiveURL) }, httpCharset: head?.charset)
    return FeedReport(feed: feed, feedURL: url, now: wallClockSeconds())
  }
}
