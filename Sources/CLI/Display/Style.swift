internal import Configuration
internal import PosixKit

/// Colours, on terminals that have them, and not where NO_COLOR is set (no-color.org).
package struct Style: Sendable {
  private let isColored: Bool

  package enum Color: Int, Sendable { case red = 31, green, yellow }

  static let output = Style(.output)

  init(_ terminal: Terminal) {
    let environment = Places.processEnvironment
    isColored =
      terminal.isTerminal && environment["NO_COLOR"]?.isEmpty ?? true
      && !["dumb", ""].contains(environment["TERM"] ?? "")
  }

  func colored(_ text: String, _ color: Color?) -> String {
    guard isColored, let color else { return text }
    return "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m"
  }
}
