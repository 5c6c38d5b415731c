import HTTPServerKit
import PodcastModel
import TestSupport

/// A publisher as they are: grows, loses, edits, moves, pages, fails and lies, by a seeded plan. Each episode has
/// a number that no reader of the feed takes into account: it stands in its link.
struct ModelFeed {
  struct Entry {
    let number: Int
    var guid: String?
    var title: String
    var published: Int64
    var duration: Int
    var path: String
    var notes: String
  }

  private(set) var entries: [Entry] = []
  private var random: SeededGenerator
  private var host = "media.example"
  private var generation = 0
  private let guids: Guids
  /// The key of the address that names an episode or changes with each answer.
  private let key: String
  private let isSigned: Bool
  /// How many entries the feed shows; nil for all.
  private let window: Int?
  /// Entries of a page; nil for one page.
  private let pageSize: Int?
  private let sharesTitles: Bool
  /// Some call an episode otherwise each time, or all the same.
  private enum Guids { case own, none, places, constant }
  /// Moves to other hosts; else corrects titles, times and addresses. An episode that has changed in all that tells
  /// it apart while nobody looked is another one.
  private let moves: Bool

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    guids = [.own, .own, .own, .none, .none, .places, .constant].randomElement(using: &random) ?? .own
    key = ["sid", "ts", "id", "se", "v"].randomElement(using: &random) ?? "id"
    isSigned = Bool.random(using: &random)
    window = Bool.random(using: &random) ? Int.random(in: 3...12, using: &random) : nil
    pageSize = window == nil && Bool.random(using: &random) ? Int.random(in: 4...9, using: &random) : nil
    sharesTitles = guids == .own && Int.random(in: 0..<4, using: &random) == 0
    moves = Bool.random(using: &random)
    for _ in 0..<Int.random(in: 1...15, using: &random) { add() }
  }

  /// What has become of it since the last time.
  mutating func step() {
    switch Int.random(in: 0..<12, using: &random) {
    case 0...4: for _ in 0..<Int.random(in: 1...3, using: &random) { add() }
    case 5 where !moves: edit { $0.title += " (corrected)" }
    case 6: edit { $0.notes = "rewritten words\($0.number)x" }
    case 7: edit { $0.duration += 2 }
    case 8 where guids == .own && !moves: edit { $0.published += 3600 }
    case 9 where guids == .own && !moves: edit { $0.path = "/reupload/\($0.number)00" }
    case 10 where moves && !sharesTitles: move()
    default: break
    }
  }

  private mutating func add() {
    let number = entries.count
    entries.append(
      Entry(
        number: number, guid: guids == .own ? "guid-\(number)" : guids == .constant ? "the-show" : nil,
        title: sharesTitles ? "News" : "Story word\(number)w",
        published: 1_500_000_000 + Int64(number) * 100_000,
        duration: 1000 + number * 37, path: "/play", notes: "About fact\(number)f"))
  }

  private mutating func edit(_ body: (inout Entry) -> Void) {
    let shown = shown.map(\.number)
    if let number = shown.randomElement(using: &random) { body(&entries[number]) }
  }

  /// To another host, with new guids, addresses and rounded durations.
  private mutating func move() {
    generation += 1
    host = "host\(generation).example"
    for index in entries.indices {
      if guids == .own { entries[index].guid = "moved-\(generation)-\(index)" }
      entries[index].duration = entries[index].duration / 5 * 5
      entries[index].path = "/g\(generation)/play"
    }
  }

  /// The newest first.
  private var shown: [Entry] {
    var shown = Array(entries.suffix(window ?? entries.count).reversed())
    if guids == .places { for place in shown.indices { shown[place].guid = "\(place + 1)" } }
    return shown
  }

  /// Whether all that was ever published is still in the feed.
  var showsAll: Bool { window == nil }

  /// The documents by their path below the feed's, the first page under "".
  mutating func pages(_ base: String, order: Bool) -> [String: String] {
    var rest = shown[...]
    var pages: [String: String] = [:]
    var number = 1
    repeat {
      var part = Array(rest.prefix(pageSize ?? rest.count))
      rest = rest.dropFirst(part.count)
      if order { part.shuffle(using: &random) }
      let next = rest.isEmpty ? "" : "<atom:link rel=\"next\" href=\"\(base)/\(number + 1)\"/>"
      var items: [String] = []
      for entry in part { items.append(item(entry)) }
      pages[number == 1 ? "" : "/\(number)"] = Self.text(items, next)
      number += 1
    } while !rest.isEmpty
    return pages
  }

  private mutating func item(_ entry: Entry) -> String {
    let signature = isSigned ? "&amp;Expires=\(Int.random(in: 1...9999, using: &random))" : ""
    return """
      <item><title>\(entry.title)</title>\(entry.guid.map { "<guid isPermaLink=\"false\">\($0)</guid>" } ?? "")
      <link>http://site.example/true/\(entry.number)</link><pubDate>\(CivilTime.rfc822(entry.published))</pubDate>
      <itunes:duration>\(entry.duration)</itunes:duration><description>\(entry.notes)</description>
      <enclosure url="http://\(host)\(entry.path)?\(key)=\(entry.number + 100)\(signature)" type="audio/mpeg" length="\(1_000_000 + entry.number)"/></item>
      """
  }

  private static func text(_ items: [String], _ next: String) -> String {
    """
    <?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
      xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Model</title>\(next)\(items.joined(separator: "\n"))</channel></rss>
    """
  }
}
