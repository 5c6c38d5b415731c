internal import PodcastModel
internal import PosixKit

/// What a notification says. The body may hold markup by the Desktop Notifications Specification; a title may not.
struct NotificationText: Equatable {
  var summary: String
  var body: String

  private static let shownTitles = 4

  static func complete(_ events: [Notifications.Event]) -> NotificationText {
    guard events.count > 1 else {
      return NotificationText(summary: plain(events[0].title), body: escaped(events[0].show))
    }
    let shows = distinct(events.map(\.show))
    let of = shows.count == 1 ? " of \(plain(shows[0]))" : ""
    return NotificationText(
      summary: "\(events.count) episodes\(of) downloaded",
      body: list(shows.count == 1 ? events.map(\.title) : shows))
  }

  static func failed(_ events: [Notifications.Event]) -> NotificationText {
    guard events.count > 1 else {
      return NotificationText(
        summary: "\(plain(events[0].title)) could not be downloaded",
        body: escaped("\(events[0].show): \(events[0].error ?? "")"))
    }
    return NotificationText(
      summary: "\(events.count) episodes could not be downloaded",
      body: list(distinct(events.compactMap(\.error))))
  }

  private static func distinct(_ texts: [String]) -> [String] {
    texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static func list(_ texts: [String]) -> String {
    let shown = texts.prefix(shownTitles).map(escaped)
    return (shown + (texts.count > shownTitles ? ["…"] : [])).joined(separator: "\n")
  }

  private static func plain(_ text: String) -> String { PrintableText.line(text) }

  private static func escaped(_ text: String) -> String {
    plain(text).reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: text.append(character)
      }
    }
  }
}
