internal import Configuration
internal import PodcastModel
internal import PosixKit

/// The words behind a command's name. The command takes its options out of it; operands are left.
package struct ArgumentList {
  package private(set) var words: [String]
  /// Of its command: to check the operands, and to suggest a flag for a mistyped one.
  private let form: CommandForm?

  init(_ words: [String], of form: CommandForm? = nil) { (self.words, self.form) = (words, form) }

  /// Takes a flag out of the list, wherever it stands before "--" and however often.
  package mutating func takeFlag(_ names: String...) -> Bool {
    let isGiven = optionWords.contains { names.contains($0) }
    while let index = optionWords.firstIndex(where: { names.contains($0) }) { words.remove(at: index) }
    return isGiven
  }

  /// Takes an option with its value out of the list: "--limit 5", "--limit=5", "-o x", "-ox". Of several the last
  /// one counts.
  /// - Throws: `UsageError` where the value is missing.
  package mutating func takeValue(_ name: String) throws -> String? { try takeValues(name).last }

  /// The same for an option that means something each time, in their order.
  package mutating func takeValues(_ name: String) throws -> [String] {
    var values: [String] = []
    let joined = name.hasPrefix("--") ? name + "=" : name
    while let index = optionWords.firstIndex(where: { $0.hasPrefix(joined) || $0 == name }) {
      let word = words.remove(at: index)
      if word == name {
        guard index < words.count else { throw UsageError("\(name) needs a value") }
        values.append(words.remove(at: index))
      } else {
        values.append(String(word.dropFirst(joined.count)))
      }
    }
    return values
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
  /// - Throws: `UsageError` where an option is left that nobody has taken, and where the command takes more or fewer operands.
  package func operands() throws -> [String] {
    if let unknown = optionWords.first(where: { $0.hasPrefix("-") && $0 != "-" && !$0.hasPrefix("-is:") }) {
      let question = SimilarWord.question(unknown, among: form?.flags ?? [])
      throw UsageError("unknown option \(PrintableText.line(unknown))\(question)")
    }
    var rest = words
    if let separator = rest.firstIndex(of: "--") { rest.remove(at: separator) }
    if let form, !form.operandCount.contains(rest.count) {
      throw UsageError("usage: \(form.synopsis.joined(separator: ", or "))")
    }
    // A variable of a script that is not set, mostly.
    if rest.contains("") { throw UsageError("an argument is empty") }
    return rest
  }

  private var optionWords: ArraySlice<String> { words[..<(words.firstIndex(of: "--") ?? words.endIndex)] }
}
