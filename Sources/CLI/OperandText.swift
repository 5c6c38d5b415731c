internal import PodcastModel
internal import PosixKit

/// The words of the call as messages show them: any word may be an address with a password, or a whole document.
enum OperandText {
  /// Characters of a word that are shown.
  private static let limit = 200

  private static let words = Monitor<[(whole: String, shown: String)]>([])

  /// What the program was called with.
  static func set(_ arguments: [String]) {
    let hidden = arguments.flatMap { word -> [(whole: String, shown: String)] in
      let shown = shown(word)
      // Some messages have it as one line already.
      return shown == word ? [] : [word, PrintableText.line(word)].map { (whole: $0, shown: shown) }
    }
    words.withLock {
      $0 = hidden.filter { !$0.whole.isEmpty }.sorted { $0.whole.utf8.count > $1.whole.utf8.count }
    }
  }

  /// A message with each of these words as it may be shown.
  static func shown(in text: String) -> String {
    words.withLock { $0 }.reduce(text) { text, word in text.replacing(word.whole, with: word.shown) }
  }

  private static func shown(_ word: String) -> String {
    let text = word.contains("://") ? WebAddress(word).shown : word
    return text.count > limit ? "\(text.prefix(limit))…" : text
  }
}
