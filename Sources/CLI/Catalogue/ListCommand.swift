internal import Catalog
internal import PodcastModel
internal import PosixKit

enum ListCommand: Command {
  static let usage = """
    podcastfs list [--json|--names]

    Lists the podcasts that you follow, with the number of unplayed and downloaded episodes and the newest episode. Where a feed
    cannot be read, a second line says why.

      --names  names only, for scripts
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let onlyNames = arguments.takeFlag("--names")
    _ = try arguments.operands()
    let session = try CatalogSession()
    let subscriptions = try session.catalog.subscriptions()
    if onlyNames {
      return subscriptions.forEach { StandardStreams.print($0.name) }
    }
    let downloads = subscriptions.isEmpty ? [:] : try DownloadCounts.all(session)
    let lines = try subscriptions.map { listed in
      try PodcastInfo(listed.podcast, listed, downloads[listed.podcast.id], session)
    }
    StandardStreams.show(.array(lines.map(\.json))) { show(lines, now: session.catalog.now) }
  }

  static func tellNothingIsFollowed() {
    guard StandardStreams.outputIsTerminal, !StandardStreams.isQuiet else { return }
    StandardStreams.tell("You follow no podcasts yet: podcastfs search WORDS")
  }

  /// A line for each podcast, and below it why its feed cannot be read.
  private static func show(_ lines: [PodcastInfo], now: Int64) {
    if lines.isEmpty { return tellNothingIsFollowed() }
    let columns = Terminal.output.isTerminal ? Terminal.output.width : nil
    let longest = lines.map { ColumnText.width(PrintableText.line($0.name)) }.max() ?? 0
    let width = max(columns.map { min(longest, $0 / 3) } ?? longest, 7)
    func line(_ cells: [String]) {
      let widths = [width, 8, 10, 13]
      let fitted = zip(cells, widths).enumerated().map { place, cell in
        place == 1 || place == 2 ? ColumnText.right(cell.0, cell.1) : ColumnText.fitted(cell.0, cell.1)
      }
      let text = (fitted + cells.dropFirst(4).map(PrintableText.line)).joined(separator: "  ")
      // A few letters of a title say nothing.
      let isNarrow = columns.map { $0 - width < 52 } ?? false
      let shown = isNarrow ? fitted.joined(separator: "  ") : text
      StandardStreams.print(columns.map { ColumnText.cut(shown, $0) } ?? shown)
    }
    if columns != nil { line(["PODCAST", "UNPLAYED", "DOWNLOADED", "NEWEST", ""]) }
    for one in lines {
      let age = one.newest.map { HumanText.ago(now - $0.published) } ?? "-"
      line([
        one.name, String(one.podcast.unplayedCount), String(one.downloads.episodes),
        one.podcast.isFetched ? age : "not fetched", one.newest?.title ?? "",
      ])
      if let error = one.podcast.error {
        StandardStreams.tell("    " + PrintableText.line(error), hanging: 2, .red)
      }
    }
  }
}
