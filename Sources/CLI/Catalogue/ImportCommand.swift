internal import Catalog
internal import FeedKit
internal import PodcastModel
internal import PosixKit

enum ImportCommand: Command {
  static let usage = """
    podcastfs import [--dry-run] [--linked] [--json] [--quiet] FILE

    Follows every feed in a list (OPML, or one address a line; -: standard input), or the feed or page of a link file (.desktop,
    .url, .webloc). It removes none. Backups also restore positions, played marks, the queue, kept episodes and rules: those of
    AntennaPod (its database), gPodder (the file Database), Overcast ("all data") and podcastfs export --state. Bad entries are
    reported, and the status is 1; good ones are used. A text with a line that is no address is refused.

      --dry-run  changes nothing
      --linked   a web page named the file: no feed in it may be on a private network
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isDry = arguments.takeFlag("--dry-run")
    let isLinked = arguments.takeFlag("--linked")
    let operands = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    // As desktops name a file.
    let file = operands[0] == "-" ? "/dev/stdin" : PlayerWatch.path(of: operands[0]) ?? operands[0]
    let bytes = try Directories.read(file, limit: OPMLDocument.backupLimit)
    var outcome: OPMLImport
    do {
      outcome = try session.catalog.importOPML(bytes, isDry: isDry, mayBePrivate: isLinked ? false : nil)
      if let link = outcome.link {
        try follow(link, session, isDry: isDry, isTyped: !isLinked, &outcome)
      }
    } catch {
      throw CommandFailure(of: operands[0], error)
    }
    if !isDry { search(session, &outcome) }
    let isUseless = outcome.added + outcome.known == 0
    try StandardStreams.show(json(outcome)) {
      for problem in outcome.problems { StandardStreams.complain(problem) }
      if isUseless { throw CommandFailure("\(operands[0]) has no feed that can be followed") }
      report(outcome, isDry: isDry)
    }
    if outcome.refused > 0 || isUseless { throw CommandEnd() }
  }

  private static func follow(
    _ link: String, _ session: CatalogSession, isDry: Bool, isTyped: Bool, _ outcome: inout OPMLImport
  ) throws {
    let isNew =
      try isDry
      ? session.catalog.subscription(feedURL: link) == nil : session.follow(link, isTyped: isTyped).isNew
    (outcome.added, outcome.known) = isNew ? (1, 0) : (0, 1)
  }

  /// Makes the searches of a backup. A search that fails is reported; the others are made all the same.
  private static func search(_ session: CatalogSession, _ outcome: inout OPMLImport) {
    for search in outcome.searches {
      do {
        let made = try session.wait { session.catalog.search(search, replacing: nil, completion: $0) }
        try session.catalog.hide(outcome.hiddenResults, inSearch: made)
      } catch {
        outcome.problems.append("cannot search for “\(search)”: \(error)")
      }
    }
  }

  private static func json(_ outcome: OPMLImport) -> JSONValue {
    .members([
      "added": outcome.added, "known": outcome.known, "refused": outcome.refused, "rules": outcome.rules,
      "episodes": outcome.episodes, "awaited": outcome.awaited, "searches": outcome.searches,
      "problems": outcome.problems,
    ])
  }

  private static func report(_ outcome: OPMLImport, isDry: Bool) {
    let refused = outcome.refused > 0 ? ", \(outcome.refused) refused" : ""
    StandardStreams.report(
      "\(outcome.added) \(isDry ? "would be added" : "added"), \(outcome.known) known already\(refused)")
    let further = [
      HumanText.count(outcome.rules, "rule"), HumanText.count(outcome.episodes, "episode"),
      outcome.searches.count == 1 ? "1 search" : "\(outcome.searches.count) searches",
    ].filter { !$0.hasPrefix("0 ") }
    if !further.isEmpty { StandardStreams.report("also: \(further.joined(separator: ", "))") }
    if outcome.awaited > 0 {
      StandardStreams.report(
        "\(HumanText.count(outcome.awaited, "episode")) will follow when their feeds are fetched")
    }
  }
}
