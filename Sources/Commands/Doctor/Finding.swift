/// What a check of the machine has found.
package enum Finding: Hashable, Sendable {
  /// All is well: in words.
  case fine(String)
  /// Nothing is wrong, but it is good to know.
  case note(String)
  /// What is wrong, and the fix.
  case problem(String, mend: String)

  package var isProblem: Bool {
    if case .problem = self { return true }
    return false
  }

  /// What stands out on a terminal.
  var color: Style.Color? {
    switch self {
    case .fine: nil
    case .note: .yellow
    case .problem: .red
    }
  }

  /// Columns of the word at the beginning of a line.
  static let indent = 9

  var json: (status: String, words: String, mend: String?) {
    switch self {
    case .fine(let words): ("ok", words, nil)
    case .note(let words): ("note", words, nil)
    case .problem(let words, let mend): ("problem", words, mend)
    }
  }

  /// The lines for people.
  package var text: String {
    switch self {
    case .fine(let words): "ok       \(words)"
    case .note(let words): "note     \(words)"
    case .problem(let words, let mend): "PROBLEM  \(words)\n         fix: \(mend)"
    }
  }
}
