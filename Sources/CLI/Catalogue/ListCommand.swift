internal import Catalog
internal import PodcastModel
internal import PosixKit

enum ListCommand: Command {
  static let name = "list"
  static let summary = "list what you follow"
  static let usage = """
    podcastfs list [--json|--names]

    Lists the podcasts that you follow, with the number of unplayed and downloaded episodes and the newest episode. Where a feed
    cannot be read, a second line says why.

      --names  names only, for scripts
      --json   an object for each, as podcastfs info --json prints it
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let onlyNames = arguments.takeFlag("--names")
    guard try arguments.operands().isEmpty else { throw UsageError("list takes no arguments") }
    let session = try CatalogSession()
    let subscriptions = try session.catalog.subscriptions()
    if onlyNames {
      for listed in subscriptions { StandardStreams.print(listed.name) }
      return 0
    }
    let downloads = subscriptions.isEmpty ? [:] : try DownloadCounts.all(session)
    let lines = try subscriptions.map { listed in
      try PodcastInfo(listed.podcast, listed, downloads[listed.podcast.id], session)
    }
    if isJSON {
      StandardStreams.print(JSONValue.array(lines.map(\.json)).indentedText)
    } else {
      show(lines, now: session.catalog.now)
    }
    return 0
  }

  static func tellNothingIsFollowed() {
    guard StandardStreams.outputIsTerminal, !StandardStreams.isQuiet else { return }
    StandardStreams.tell("You follow no podcasts yet: podcastfs search WORDS")
  }

  /// A line for each podcast, and below it why its feed cannot be read.
  private static func show(_ lines: [PodcastInfo], now: Int64) {
    let columns = Terminal.output.isTerminal ? Terminal.output.width : nil
    if lines.isEmpty {
      tellNothingIsFollowed()
      return
    }
    if let columns, columns < narrow { return lines.forEach { tell($0, now) } }
    let longest = lines.map { ColumnText.width(PrintableText.line($0.name)) }.max() ?? 0
    let width = max(columns.map { min(longest, $0 / 3) } ?? longest, 7)
    let ageWidth = max(lines.map { ColumnText.width(age($0, now)) }.max() ?? 0, 13)
    func line(_ name: String, _ unplayed: String, _ downloaded: String, _ age: String, _ title: String) {
      let text =
        ColumnText.fitted(name, width) + "  " + ColumnText.right(unplayed, 8) + "  "
        + ColumnText.right(downloaded, 10) + "  " + ColumnText.fitted(age, ageWidth) + "  "
        + PrintableText.line(title)
      StandardStreams.print(columns.map { ColumnText.cut(text, $0) } ?? text)
    }
    if columns != nil { line("PODCAST", "UNPLAYED", "DOWNLOADED", "NEWEST", "") }
    for one in lines {
      let podcast = one.podcast
      line(
        one.name, String(podcast.unplayedCount), String(one.downloads.episodes), age(one, now),
        one.newest?.title ?? "")
      tellError(of: podcast)
    }
  }

  /// A terminal with fewer columns has no room for the table.
  private static let narrow = 79

  private static func tell(_ one: PodcastInfo, _ now: Int64) {
    let podcast = one.podcast
    let counts = "\(podcast.unplayedCount) unplayed, \(one.downloads.episodes) downloaded"
    StandardStreams.tell("\(PrintableText.line(one.name)): \(counts)", hanging: 2)
    let title = one.newest.map { ": " + PrintableText.line($0.title) } ?? ""
    StandardStreams.tell("    \(age(one, now))\(title)", hanging: 2)
    tellError(of: podcast)
  }

  private static func tellError(of podcast: Podcast) {
    guard let error = podcast.error else { return }
    StandardStreams.tell("    " + PrintableText.line(error), hanging: 2, .red)
  }

  private static func age(_ one: PodcastInfo, _ now: Int64) -> String {
    guard one.podcast.isFetched else { return "not fetched" }
    return one.newest.map { HumanText.ago(now - $0.published) } ?? "-"
  }
}
