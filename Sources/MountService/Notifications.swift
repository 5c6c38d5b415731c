internal import BusKit
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import WebValues

/// Single notifications (Desktop Notifications Specification).
package enum Notifications {
  /// Whether there is a session to show them in.
  static var isPossible: Bool {
    let environment = Places.processEnvironment
    if let bus = environment["DBUS_SESSION_BUS_ADDRESS"], !bus.isEmpty { return true }
    return Places.runtimeDirectory(environment).map { access($0 + "/bus", F_OK) == 0 } ?? false
  }

  /// Shows one, and waits until it is shown, for a few seconds at most.
  package static func show(_ summary: String, _ body: String) {
    guard isPossible, let loop = try? EventLoop(), let bus = try? Bus(.session, loop: loop, ended: loop.stop)
    else { return }
    let arguments = NotificationContent(summary: summary, lines: [body]).arguments(replacing: 0)
    NotificationContent.call(bus, "Notify", arguments) { _ in loop.stop() }
    loop.schedule(at: .after(5)) { loop.stop() }
    loop.run()
  }
}

struct NotificationContent: Hashable {
  struct Event: Sendable {
    var title: String
    var show: String
    /// Where it is, below `Downloaded/`; nil for one that failed.
    var path: String?
    /// A picture's file.
    var cover: String?
    var error: String?
  }

  static let service = "org.freedesktop.Notifications"

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

  static func complete(_ events: [Event]) -> Self? {
    guard let first = events.first else { return nil }
    let shows = distinct(events.map(\.show))
    let isOneShow = shows.count == 1
    var content = Self(summary: first.title, lines: [first.show], playable: first.path)
    if events.count > 1 {
      content = Self(
        summary: "\(events.count) episodes\(isOneShow ? " of \(shows[0])" : "") downloaded",
        lines: isOneShow ? events.map(\.title) : shows)
    }
    content.folder = first.path.map { String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.endIndex)) }
    content.icon = isOneShow ? first.cover : nil
    return content
  }

  static func failed(_ events: [Event], folder: String) -> Self? {
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
  static func running(_ running: [(title: String, show: String)], of count: Int, percent: Int) -> Self {
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
    // "default": a click on the notification itself.
    let actions =
      (playable == nil ? [] : ["play", "Play"])
      + (folder == nil ? [] : ["show", "Show", "default", "Show"])
    var hints: [String: BusValue] = ["desktop-entry": .string("podcastfs"), "category": .string("transfer")]
    if let progress {
      hints["value"] = .int32(Int32(progress))
      // Low: no banner for each step.
      hints["urgency"] = .byte(0)
    }
    if let icon, icon.hasPrefix("/") { hints["image-path"] = .string(icon) }
    return [
      .string("podcastfs"), .uint32(id), .string(icon ?? ""), .string(PrintableText.line(summary)),
      .string(body), .array("s", actions.map { .string($0) }), .dictionary(hints), .int32(-1),
    ]
  }

  static func call(
    _ bus: Bus, _ member: String, _ arguments: [BusValue], _ answered: @escaping (Bus.Answer) -> Void
  ) { bus.call(service, "/org/freedesktop/Notifications", service, member, arguments, answered: answered) }

  private static func distinct(_ texts: [String]) -> [String] {
    texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
