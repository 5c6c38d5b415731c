internal import Configuration
internal import FeedKit
internal import PodcastModel
internal import PosixKit

/// What the last `search` came to, so that `subscribe` takes its numbers, titles and addresses. A printed address may
/// hide a token that the feed needs.
struct LastSearch {
  struct Result {
    var title: String
    /// As it is printed, and as it is asked for.
    var shown: String
    var address: String
  }

  private enum Outcome {
    case none
    case found([Result])
    /// Also where it was interrupted.
    case failed
  }

  private let outcome: Outcome
  /// The words that were searched for.
  private let query: String
  private static let limit = 1 << 20

  private static func file(in places: Places) -> String { places.state + "/last-search.json" }

  init(in places: Places) {
    guard let bytes = try? Directories.read(Self.file(in: places), limit: Self.limit),
      let json = try? JSONValue(parsing: bytes), let query = json["query"]?.text
    else {
      (outcome, query) = (.none, "")
      return
    }
    self.query = query
    outcome = json["results"].map { .found($0.elements.compactMap(Self.result)) } ?? .failed
  }

  private static func result(_ entry: JSONValue) -> Result? {
    guard let title = entry["title"]?.text, let shown = entry["shown"]?.text,
      let address = entry["feed"]?.text
    else { return nil }
    return Result(title: title, shown: shown, address: address)
  }

  /// Remembers a search in place of the one before.
  /// - Parameter results: nil before it ends, and where it fails: numbers then refer to nothing, and not to what an
  ///   earlier search found.
  static func store(_ query: String, _ results: [Result]?, in places: Places) {
    var members: [(String, JSONValue)] = [("query", .string(query))]
    if let results {
      let entries = results.map { result in
        JSONValue.object([
          ("title", .string(result.title)), ("shown", .string(result.shown)),
          ("feed", .string(result.address)),
        ])
      }
      members.append(("results", .array(entries)))
    }
    try? Directories.replace(file(in: places), with: Array(JSONValue.object(members).compactText.utf8))
  }

  /// The feed's address that a word means: a number, a title or an address as they were printed, or any address.
  /// - Throws: `CommandFailure` for a number or a title that was not printed.
  func address(of word: String) throws -> String {
    var results: [Result] = []
    if case .found(let found) = outcome { results = found }
    if let number = Int(word) {
      guard results.indices.contains(number - 1) else { throw CommandFailure("\(word): \(missing)") }
      return results[number - 1].address
    }
    let result = results.first { $0.shown == word || $0.title.lowercased() == word.lowercased() }
    if let result { return result.address }
    guard !SubscriptionAddress.typed(word).isEmpty || word.contains(":") else {
      throw CommandFailure(
        "\(word): not a feed address, and not a title of the last search: podcastfs search \(word)")
    }
    return word
  }

  /// Why no result has a number.
  private var missing: String {
    let words = PrintableText.line(query)
    switch outcome {
    case .none: return "nothing was searched for yet: podcastfs search WORDS"
    case .failed: return "the last search (\(words)) failed: podcastfs search WORDS"
    case .found(let results) where results.isEmpty:
      return "the last search (\(words)) found nothing: podcastfs search WORDS"
    case .found(let results):
      return "the last search (\(words)) printed \(HumanText.count(results.count, "result"))"
    }
  }
}
