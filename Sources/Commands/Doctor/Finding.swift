/// What a check of the machine has found.
package enum Finding: Hashable, Sendable {
  /// All is well: in words.
  case fine(String)
  /// Nothing is wrong, but it is good to know.
  case note(String)
  /// What is wrong, and how to mend it.
  case problem(String, mend: String)

  package var isProblem: Bool {
    if case .problem = self { return true }
    return false
  }

  /// The lines for a terminal: what is to be done stands out.
  var styledText: String {
    switch self {
    case .fine: text
    case .note: Style.output.colored(text, .yellow)
    case .problem: Style.output.colored(text, .red)
    }
  }

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
    case .problem(let words, let mend): "PROBLEM  \(words)\n         mend it: \(mend)"
    }
  }
}
