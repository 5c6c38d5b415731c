internal import BusKit
internal import PodcastModel
internal import PosixKit

struct NotificationContent: Hashable {
  static let service = "org.freedesktop.Notifications"
  static let path = "/org/freedesktop/Notifications"

  /// Without markup.
  var summary: String
  var lines: [String] = []
  /// A picture's file, or the name of an icon.
  var icon: String?
  /// In percent.
  var progress: Int?
  /// A file that "Play" opens.
  var playable: String?
  /// A folder that "Show" opens.
  var folder: String?

  private static let mostLines = 4

  static func complete(_ events: [Notifications.Event]) -> Self? {
    guard let first = events.first else { return nil }
    let shows = distinct(events.map(\.show))
    var content = Self(summary: first.title, lines: [first.show])
    if events.count > 1 {
      content.summary = "\(events.count) episodes\(shows.count == 1 ? " of \(shows[0])" : "") downloaded"
      content.lines = shows.count == 1 ? events.map(\.title) : shows
    } else {
      content.playable = first.path
    }
    content.folder = first.path.map { String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.endIndex)) }
    content.icon = shows.count == 1 ? first.cover : nil
    return content
  }

  static func failed(_ events: [Notifications.Event], folder: String) -> Self? {
    guard let first = events.first else { return nil }
    let isOne = events.count == 1
    return Self(
      summary: "\(isOne ? first.title : "\(events.count) episodes") could not be downloaded",
      lines: isOne ? ["\(first.show): \(first.error ?? "")"] : distinct(events.compactMap(\.error)),
      icon: "dialog-warning", folder: folder)
  }

  /// - Parameters:
  ///   - running: titles and shows of those that are not complete.
  ///   - count: of all, with those that are complete.
  static func running(
    _ running: [(title: String, show: String)], of count: Int, percent: Int
  ) -> Self {
    let isOne = count == 1 && !running.isEmpty
    let step = "\(count - running.count) of \(count) downloaded, \(percent) %"
    return Self(
      summary: isOne ? running[0].title : "Downloading \(count) episodes",
      lines: isOne ? ["\(running[0].show): \(percent) %"] : [step] + running.map(\.title),
      icon: "folder-download", progress: percent)
  }

  /// Of the method `Notify`. Its body may hold markup.
  func arguments(replacing id: UInt32) -> [BusValue] {
    let shownLines = lines.prefix(Self.mostLines).map { XMLText.escaped(PrintableText.line($0)) }
    let body = (shownLines + (lines.count > shownLines.count ? ["…"] : [])).joined(separator: "\n")
    var actions: [String] = []
    if playable != nil { actions += ["play", "Play"] }
    // A click on the notification itself.
    if folder != nil { actions += ["show", "Show", "default", "Show"] }
    var hints: [String: BusValue] = ["desktop-entry": .string("podcastfs"), "category": .string("transfer")]
    if let progress {
      hints["value"] = .int32(Int32(progress))
      // Low: no banner for each step.
      hints["urgency"] = .byte(0)
    }
    if let icon, icon.hasPrefix("/") { hints["image-path"] = .string(icon) }
    return [
      .string("podcastfs"), .uint32(id), .string(icon ?? ""), .string(PrintableText.line(summary)),
      .string(body),
      .array("s", actions.map { .string($0) }), .dictionary(hints), .int32(-1),
    ]
  }

  private static func distinct(_ texts: [String]) -> [String] {
    texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
