internal import Configuration
internal import PodcastModel
internal import PosixKit

/// What `search` printed last, so that `subscribe` takes its numbers, titles and addresses, which may hide a token
/// that the feed needs.
struct LastSearch {
  struct Result {
    var title: String
    /// As it is printed, and as it is asked for.
    var shown: String
    var address: String
  }

  private var results: [Result] = []
  private static let limit = 1 << 20

  private static func file(in places: Places) -> String { places.state + "/last-search.json" }

  init(in places: Places) {
    guard let bytes = try? Directories.read(Self.file(in: places), limit: Self.limit),
      let json = try? JSONValue(parsing: bytes)
    else { return }
    results = json.elements.compactMap { entry in
      guard let title = entry["title"]?.text, let shown = entry["shown"]?.text,
        let address = entry["feed"]?.text
      else { return nil }
      return Result(title: title, shown: shown, address: address)
    }
  }

  /// Keeps the results of a search; one that can't be kept is merely not remembered.
  static func store(_ results: [Result], in places: Places) {
    let json = JSONValue.array(
      results.map { result in
        .object([
          ("title", .string(result.title)), ("shown", .string(result.shown)),
          ("feed", .string(result.address)),
        ])
      })
    try? Directories.replace(file(in: places), with: Array(json.compactText.utf8))
  }

  /// The feed's address that a word means: a number, a title, an address as it was printed, or any address.
  /// - Throws: `CommandFailure` for a number or a title that was not printed.
  func address(of word: String) throws -> String {
    if let number = Int(word) {
      guard results.indices.contains(number - 1) else {
        throw CommandFailure("\(word): the last search printed \(HumanText.count(results.count, "result"))")
      }
      return results[number - 1].address
    }
    if let result = results.first(where: { $0.shown == word || $0.title == word }) { return result.address }
    return word
  }
}
