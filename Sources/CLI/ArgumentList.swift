internal import Configuration
internal import PodcastModel
internal import PosixKit

package struct ArgumentList {
  package private(set) var words: [String]

  /// The flags of its command, to suggest one for a mistyped flag.
  private let flags: [String]

  package init(_ words: [String], flags: [String] = []) {
    self.words = words
    self.flags = flags
  }

  /// Takes a flag out of the list, wherever it stands before "--" and however often.
  package mutating func takeFlag(_ names: String...) -> Bool {
    let isGiven = optionWords.contains { names.contains($0) }
    while let index = optionWords.firstIndex(where: { names.contains($0) }) { words.remove(at: index) }
    return isGiven
  }

  /// Takes an option with its value out of the list: "--limit 5", "--limit=5", "-o x", "-ox". Of several the last
  /// one counts.
  /// - Throws: `UsageError` where the value is missing.
  package mutating func takeValue(_ names: String...) throws -> String? {
    try takeAll(names).last
  }

  /// Takes out words that begin with a dash and are no options.
  mutating func takeWords(beginningWith prefix: String) -> [String] {
    let taken = optionWords.filter { $0.hasPrefix(prefix) }
    words.removeAll { taken.contains($0) }
    return taken
  }

  /// The same for one that means something each time, in their order.
  package mutating func takeValues(_ name: String) throws -> [String] { try takeAll([name]) }

  private mutating func takeAll(_ names: [String]) throws -> [String] {
    var values: [String] = []
    while let value = try takeFirst(names) { values.append(value) }
    return values
  }

  private mutating func takeFirst(_ names: [String]) throws -> String? {
    for (index, word) in optionWords.enumerated() {
      for name in names {
        if word == name {
          guard index + 1 < words.count else { throw UsageError("\(name) needs a value") }
          words.remove(at: index)
          return words.remove(at: index)
        }
        let joined = name.hasPrefix("--") ? name + "=" : name
        if word.hasPrefix(joined) && word.count > joined.count {
          words.remove(at: index)
          return String(word.dropFirst(joined.count))
        }
      }
    }
    return nil
  }

  /// The same for a whole number in `range`.
  package mutating func takeNumber(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = try takeValue(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  /// What is left: the operands.
  /// - Throws: `UsageError` where an option is left that nobody has taken.
  package func operands() throws -> [String] {
    if let unknown = optionWords.first(where: { $0.hasPrefix("-") && $0 != "-" }) {
      let question = SimilarWord.question(unknown, among: flags)
      throw UsageError("unknown option \(PrintableText.line(unknown))\(question)")
    }
    var rest = words
    if let separator = rest.firstIndex(of: "--") { rest.remove(at: separator) }
    return rest
  }

  /// - Parameter usage: what the command takes, where the operands are more or fewer.
  package func operands(_ count: some RangeExpression<Int>, _ usage: String) throws -> [String] {
    let operands = try operands()
    guard count.contains(operands.count) else { throw UsageError(usage) }
    return operands
  }

  private var optionWords: ArraySlice<String> { words[..<(words.firstIndex(of: "--") ?? words.endIndex)] }
}
