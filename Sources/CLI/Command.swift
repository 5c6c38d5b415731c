internal import Configuration
internal import PodcastModel
internal import PosixKit

/// A command of the program. Parsing, help and the manual page follow from its usage.
package struct Command: Sendable {
  package let name: String
  let form: CommandForm
  /// Throws `UsageError` (exit status 64), `CommandEnd`, or any other error (exit status 1, one line on standard error).
  let run: @Sendable (inout ArgumentList) throws -> Void

  /// - Parameter usage: the forms of the call, a line each, then what it does and its options: see `CommandForm`.
  init(_ usage: String, run: @escaping @Sendable (inout ArgumentList) throws -> Void) {
    form = CommandForm(usage)
    name = String(usage.split(separator: " ", maxSplits: 2)[1].prefix { $0 != "\n" })
    self.run = run
  }
}

/// The words behind a command's name. The command takes its options out of it; operands are left.
struct ArgumentList {
  private(set) var words: [String]
  /// Of its command: to check the operands, and to suggest a flag for a mistyped one.
  private let form: CommandForm?
  init(_ words: [String], of form: CommandForm? = nil) { (self.words, self.form) = (words, form) }

  /// Takes a flag out of the list, wherever it stands before "--" and however often.
  mutating func takeFlag(_ names: String...) -> Bool {
    let isGiven = optionWords.contains { names.contains($0) }
    while let index = optionWords.firstIndex(where: { names.contains($0) }) { words.remove(at: index) }
    return isGiven
  }

  /// Takes an option with its value out of the list: "--limit 5", "--limit=5", "-o x", "-ox". Of several the last
  /// one counts.
  /// - Throws: `UsageError` where the value is missing.
  mutating func takeValue(_ name: String) throws -> String? { try takeValues(name).last }

  /// The same for an option that means something each time, in their order.
  mutating func takeValues(_ name: String) throws -> [String] {
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
  mutating func takeNumber(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = try takeValue(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  /// What is left: the operands.
  /// - Throws: `UsageError` where an option is left that nobody has taken, and where the command takes more or fewer operands.
  func operands() throws -> [String] {
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

/// A call that makes no sense: exit status 64 (EX_USAGE of sysexits.h).
struct UsageError: Error, CustomStringConvertible {
  let description: String
  /// The help that explains the right call: a command's name, or "options".
  var topic: String?
  init(_ description: String, topic: String? = nil) { (self.description, self.topic) = (description, topic) }
}

struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }

  /// "OPERAND: ERROR", or ERROR alone where it already begins with the operand.
  init(of operand: String, _ error: any Error) {
    let words = "\(error)"
    self.init(words.hasPrefix(operand + ": ") ? words : "\(operand): \(words)")
  }

  /// The description without "PATH: " before it.
  func reason(of path: String) -> String {
    description.hasPrefix(path + ": ") ? String(description.dropFirst(path.count + 2)) : description
  }
}

/// Ends a command that has said all there is to say.
struct CommandEnd: Error { var status: Int32 = 1 }

extension Array {
  /// Calls `body` for each element. Reports each failure, and goes on with the next element.
  /// - Throws: `CommandEnd` where one has failed.
  func forEachReporting(_ body: (Element) throws -> Void) throws {
    var hasFailed = false
    for element in self {
      do { try body(element) } catch {
        if !(error is CommandEnd) { StandardStreams.complain("\(error)") }
        hasFailed = true
      }
    }
    if hasFailed { throw CommandEnd() }
  }

  /// The same for a body that makes a document of each element. With `--json` those made are shown, as an array.
  func showReporting(_ body: (Element) throws -> JSONValue) throws {
    var documents: [JSONValue] = []
    defer { StandardStreams.show(.array(documents)) {} }
    try forEachReporting { documents.append(try body($0)) }
  }
}
