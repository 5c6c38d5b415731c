internal import Catalog
internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension Command {
  static let importing = Command(
    """
    podcastfs import [--dry-run] [--linked] [--json] [--quiet] FILE

    Follows every feed in a list (OPML, or one address a line; -: standard input), or the feed or page of a link file (.desktop,
    .url, .webloc). It removes none. Backups also restore positions, played marks, the queue, kept episodes and rules: those of
    AntennaPod (its database), gPodder (the file Database), Overcast ("all data") and podcastfs export --state. Bad entries are
    reported, and the status is 1; good ones are used. A text with a line that is no address is refused.

      --dry-run  changes nothing
      --linked   a web page named the file: no feed in it may be on a private network
    """
  ) { arguments in
    let isDry = arguments.takeFlag("--dry-run")
    let isLinked = arguments.takeFlag("--linked")
    let operand = try arguments.operands()[0]
    let session = try CatalogSession()
    // As desktops name a file.
    let file = operand == "-" ? "/dev/stdin" : PlayerWatch.path(of: operand) ?? operand
    let bytes = try Directories.read(file, limit: OPMLDocument.backupLimit)
    var outcome: OPMLImport
    do {
      outcome = try session.catalog.importOPML(bytes, isDry: isDry, mayBePrivate: isLinked ? false : nil)
      if let link = outcome.link {
        let known = try session.catalog.subscriptions().map(\.id)
        let followed =
          try isDry
          ? session.catalog.subscription(feedURL: link) : session.follow(link, isTyped: !isLinked)
        let isKnown = followed.map { known.contains($0.id) } ?? false
        (outcome.added, outcome.known) = isKnown ? (0, 1) : (1, 0)
      }
    } catch {
      throw CommandFailure(of: operand, error)
    }
    // A search that fails is reported; the others are made all the same.
    for search in isDry ? [] : outcome.searches {
      do {
        let made = try session.wait { session.catalog.search(search, replacing: nil, completion: $0) }
        try session.catalog.hide(outcome.hiddenResults, inSearch: made)
      } catch {
        outcome.problems.append("cannot search for “\(search)”: \(error)")
      }
    }
    let isUseless = outcome.added + outcome.known == 0
    try StandardStreams.show(json(outcome)) {
      for problem in outcome.problems { StandardStreams.complain(problem) }
      if isUseless { throw CommandFailure("\(operand) has no feed that can be followed") }
      report(outcome, isDry: isDry)
    }
    if outcome.refused > 0 || isUseless { throw CommandEnd() }
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

  static let export = Command(
    """
    podcastfs export [--state] [FILE]

    Writes your subscriptions as OPML 2.0, to FILE or to standard output. Addresses of private feeds are whole: they have your
    passwords and tokens.

      --state  writes JSON with all that another machine needs, but no audio: subscriptions, rules, searches, positions, marks,
               hidden and kept episodes, the queue. podcastfs import reads it
    """
  ) { arguments in
    let wantsState = arguments.takeFlag("--state")
    let operands = try arguments.operands()
    let session = try CatalogSession()
    let bytes: [UInt8]
    if wantsState {
      // What the daemon keeps, or the last one has kept.
      let kept = try session.statuses().values.filter(\.isKept).map(\.key)
      bytes = try session.catalog.exportState(kept: Set(kept))
    } else {
      bytes = try session.catalog.exportOPML()
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let file = operands.first, file != "-" else {
      // As it is for files and pipes; a terminal shows it.
      return StandardStreams.write(StandardStreams.outputIsTerminal ? PrintableText.block(text) : text)
    }
    var status = stat()
    if stat(file, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
      // A pipe or a device is written to: in its place a file would take its name.
      let device = try FileDescriptor(opening: file, O_WRONLY)
      if let error = StandardStreams.writeAll(text, to: device.rawValue) {
        throw CommandFailure("\(file): \(error)")
      }
    } else {
      try Directories.replace(file, with: bytes)
    }
  }
}
