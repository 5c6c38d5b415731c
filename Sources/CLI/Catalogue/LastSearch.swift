internal import Configuration
internal import FeedKit
internal import Glibc
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
    /// Whether it may be on a private host.
    var mayBePrivate: Bool
  }

  private let query: String?
  /// nil where the search failed or was interrupted.
  private let results: [Result]?
  private static let limit = 1 << 20
  /// A search prints fewer.
  private static let mostResults = 10_000

  private static func file(in places: Places) -> String { places.state + "/last-search.json" }

  init(in places: Places) {
    let bytes = try? Directories.read(Self.file(in: places), limit: Self.limit)
    let json = bytes.flatMap { try? JSONValue(parsing: $0) }
    query = json?["query"]?.text
    results = json?["results"]?.elements.compactMap(Self.result)
  }

  private static func result(_ entry: JSONValue) -> Result? {
    guard let title = entry["title"]?.text, let shown = entry["shown"]?.text,
      let address = entry["feed"]?.text
    else { return nil }
    return Result(
      title: title, shown: shown, address: address, mayBePrivate: entry["may_be_private"]?.flag == true)
  }

  /// Remembers a search in place of the one before.
  /// - Parameter results: nil before it ends, and where it fails: numbers then refer to nothing, and not to what an
  ///   earlier search found.
  static func store(_ query: String, _ results: [Result]?, in places: Places) {
    var members: [(String, JSONValue)] = [("query", .string(query))]
    if let results {
      let entries = results.map { result in
        JSONValue.members([
          "title": result.title, "shown": result.shown, "feed": result.address,
          "may_be_private": result.mayBePrivate,
        ])
      }
      members.append(("results", .array(entries)))
    }
    try? Directories.replace(file(in: places), with: Array(JSONValue.object(members).compactText.utf8))
  }

  /// Forgets the last search, whose title and address may be those of a podcast that the user forgets.
  static func forget(in places: Places) { unlink(file(in: places)) }

  /// The feed's address that a word means: a number, a title or an address as they were printed, or any address.
  /// - Returns: also whether it counts as typed by the user. What a search service has named does not.
  /// - Throws: `CommandFailure` for a number or a title that was not printed.
  func address(of word: String) throws -> (address: String, isTyped: Bool) {
    let results = results ?? []
    if let number = Int(word), number <= Self.mostResults {
      guard results.indices.contains(number - 1) else { throw CommandFailure("\(word): \(missing)") }
      return (results[number - 1].address, results[number - 1].mayBePrivate)
    }
    let result = results.first { $0.shown == word || $0.title.lowercased() == word.lowercased() }
    if let result { return (result.address, result.mayBePrivate || result.address == word) }
    // A greater one is Apple's.
    if word.utf8.allSatisfy({ (48...57).contains($0) }) { return ("id:\(word)", true) }
    guard !SubscriptionAddress.typed(word).isEmpty || word.contains(":") else {
      throw CommandFailure(
        "\(word): not a feed address, and not a title of the last search: podcastfs search \(word)")
    }
    return (word, true)
  }

  private var missing: String {
    guard let query else { return "nothing was searched for yet: podcastfs search WORDS" }
    let outcome =
      results.map { $0.isEmpty ? "found nothing" : "printed \(HumanText.count($0.count, "result"))" }
      ?? "failed"
    return "the last search (\(PrintableText.line(query))) \(outcome): podcastfs search WORDS"
  }
}
