internal import Configuration
internal import PosixKit

/// Colours, where they help: on terminals that have them, and not where NO_COLOR is set (no-color.org).
struct Style {
  private let isColored: Bool

  enum Color: Int { case red = 31, green, yellow }

  static let output = Style(.output)

  init(_ terminal: Terminal) {
    let environment = Places.processEnvironment
    isColored =
      terminal.isTerminal && environment["NO_COLOR"]?.isEmpty ?? true
      && !["dumb", ""].contains(environment["TERM"] ?? "")
  }

  func colored(_ text: String, _ color: Color) -> String {
    isColored ? "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m" : text
  }
}
