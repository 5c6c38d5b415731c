internal import Catalog
internal import Configuration
internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import Transcripts
internal import TransferClient
internal import TransferProtocol

extension Command {
  static let subscribe = Command(
    """
    podcastfs subscribe [--linked] [--json] [--quiet] FEED-URL|LINK|NUMBER|TITLE|FOLDER…

    Follows podcasts: each becomes a folder in Subscriptions/. Nothing changes where you follow one already. NUMBER and TITLE
    are from the last podcastfs search; a NUMBER above 10000 is Apple's. FOLDER is a podcast's in Search/ or Discover/.
    FEED-URL may begin with feed:, pcast: or itpc:, or be a web page that names its feed. LINK is one to Apple Podcasts, Podcast Index, AntennaPod, Overcast, Pocket Casts or
    subscribeonandroid.com.

      --linked  a web page named the address: it may not lead to a private network
    """
  ) { arguments in
    let isLinked = arguments.takeFlag("--linked")
    let words = try arguments.operands()
    let session = try CatalogSession()
    let search = LastSearch(in: session.places)
    var outcomes: [JSONValue] = []
    var podcasts: [(name: String, id: Int64)] = []
    func add(_ address: String, _ listed: ListedPodcast?, _ error: String?) {
      outcomes.append(
        .members(["name": listed?.name, "title": listed?.podcast.title, "feed_url": address, "error": error]))
    }
    let end = Result {
      try words.forEachReporting { word in
        let shown = WebAddress(word).shown
        do {
          let listed =
            try session.follow(folderAt: word)
            ?? {
              let (address, isTyped) = try search.address(of: word)
              return try session.follow(address, isTyped: isTyped && !isLinked)
            }()
          podcasts.append((listed.name, listed.podcast.id))
          StandardStreams.report(listed.name)
          add(listed.podcast.feedURL.shown(isListed: listed.podcast.isListed), listed, nil)
        } catch {
          add(shown, nil, "\(error)")
          throw words.count == 1 ? error : CommandFailure(of: shown, error)
        }
      }
    }
    StandardStreams.show(.array(outcomes)) {}
    try session.reportMissing(podcasts)
    try end.get()
  }

  static let unsubscribe = Command(
    """
    podcastfs unsubscribe NAME|FEED-URL…

    Stops following podcasts. NAME is the name of a folder in Subscriptions/, or a podcast's title. Downloads stay until the
    cache needs the room.
    """
  ) { arguments in
    let names = try arguments.operands()
    let session = try CatalogSession()
    try names.forEachReporting { name in
      // A podcast that is known and not followed needs no change.
      if let listed = try session.subscription(ofPodcast: session.knownPodcast(name)) {
        try session.catalog.unsubscribe(listed.id)
      }
    }
  }

  static let unhide = Command(
    """
    podcastfs unhide [--json] PODCAST…

    Shows all episodes again that were removed from a subscription. PODCAST is a folder, a title or a feed's address.
    """
  ) { arguments in
    let names = try arguments.operands()
    let session = try CatalogSession()
    try names.showReporting { name in
      let podcast = try session.knownPodcast(name)
      let listed = try session.subscription(ofPodcast: podcast)
      try session.catalog.restoreHidden(podcast: podcast)
      let (name, count) = (listed?.name ?? name, listed?.hiddenCount ?? 0)
      StandardStreams.report("\(name): \(HumanText.count(count, "episode")) shown again")
      return .members(["podcast": name, "shown": count])
    }
  }

  static let forget = Command(
    """
    podcastfs forget NAME|FEED-URL…

    Removes a podcast from Subscriptions/, from all searches and from the catalogue, with its notes and marks, and drops its
    downloads and the numbers of the last search. NAME is a folder in Subscriptions/ or Downloaded/, or the podcast's title.
    """
  ) { arguments in
    let names = try arguments.operands()
    let session = try CatalogSession()
    let (catalog, places) = (session.catalog, session.places)
    try names.forEachReporting { name in
      try catalog.finishForgetting()
      let podcast = try session.knownPodcast(name)
      // First: where this process ends meanwhile, the podcast is still there to be forgotten again.
      try drop(catalog.mediaKeys(ofPodcast: podcast), session)
      SidecarCopies.remove(ofPodcast: podcast, in: places)
      // What was begun meanwhile goes too.
      let keys = try catalog.mediaKeys(ofPodcast: podcast)
      try drop(catalog.forget(podcast: podcast), session)
      SidecarCopies.remove(ofPodcast: podcast, in: places)
      LastSearch.forget(in: places)
      try OwnTranscripts(data: places.data).forget(keys, copies: SidecarCopies.directory(in: places))
    }
  }

  private static func drop(_ keys: [MediaKey], _ session: CatalogSession) throws {
    let transfers = try TransferClient(places: session.places, settings: session.settings, isMount: false)
    defer { transfers.stop() }
    // Also what only the cache knows of.
    transfers.waitUntilCurrent(until: .after(30))
    for key in keys where transfers.status(of: key) != nil { try transfers.wait(for: .forget(key)) }
  }

  static let refresh = Command(
    """
    podcastfs refresh [--json] [--quiet] [PATH…]

    Fetches the feeds of all subscriptions now. With PATH, only those: a podcast's folder, an episode, or the name or address
    of a subscription. A mount fetches them automatically: every hour (option refresh) when an episode is near, else twice a
    day. Feeds that bring nothing new rest longer, up to a week.
    """
  ) { arguments in
    let paths = try arguments.operands()
    let session = try CatalogSession()
    let feeds: [Feed] =
      paths.isEmpty
      ? try session.catalog.subscriptions().map { ($0.name, $0.podcast.id) } : paths.map { ($0, nil) }
    var outcomes: [JSONValue] = feeds.map { _ in .null }
    var refreshed: [(name: String, id: Int64)] = []
    // A slow feed does not hold up the others.
    Waiting.each(feeds, atOnce: 8) { feed in
      Result { try refresh(feed, session) }
    } ended: { place, result in
      switch result {
      case .success(let (name, podcast, count)):
        refreshed.append((name, podcast))
        StandardStreams.report("\(name): \(count) new")
        outcomes[place] = .members(["name": name, "new_episodes": count, "error": JSONValue.null])
      case .failure(let error):
        StandardStreams.complain("\(error)")
        outcomes[place] = .members([
          "name": WebAddress(feeds[place].name).shown, "new_episodes": JSONValue.null, "error": "\(error)",
        ])
      }
    }
    StandardStreams.show(.array(outcomes)) { if feeds.isEmpty { tellNothingIsFollowed() } }
    try session.reportMissing(refreshed)
    if refreshed.count < feeds.count { throw CommandEnd() }
  }

  /// No podcast where the user named it.
  private typealias Feed = (name: String, podcast: Int64?)

  private static func refresh(
    _ feed: Feed, _ session: CatalogSession
  ) throws -> (name: String, podcast: Int64, newEpisodes: Int) {
    let shown = WebAddress(feed.name).shown
    do {
      let podcast = try feed.podcast ?? session.knownPodcast(feed.name, takesEpisodes: true)
      let outcome = try session.wait {
        session.catalog.refresh(podcast: podcast, cause: .forced, completion: $0)
      }
      // The feed's title may have given the folder another name.
      let name = try session.subscription(ofPodcast: podcast)?.name ?? session.catalog.podcast(podcast)?.title
      return (name ?? shown, podcast, outcome.newEpisodes.count)
    } catch let error as CatalogError { throw CommandFailure("\(shown): \(error)") }
  }

  static let list = Command(
    """
    podcastfs list [--json|--names]

    Lists the podcasts that you follow, with the number of unplayed and downloaded episodes and the newest episode. Where a feed
    cannot be read, a second line says why.

      --names  names only, for scripts
    """
  ) { arguments in
    let onlyNames = arguments.takeFlag("--names")
    _ = try arguments.operands()
    let session = try CatalogSession()
    let subscriptions = try session.catalog.subscriptions()
    if onlyNames { return subscriptions.forEach { StandardStreams.print($0.name) } }
    let downloads = subscriptions.isEmpty ? [:] : try DownloadCounts.all(session)
    let podcasts = try subscriptions.map {
      try PodcastInfo($0.podcast, $0, downloads[$0.podcast.id], session)
    }
    StandardStreams.show(.array(podcasts.map(\.page.json))) { show(podcasts, now: session.catalog.now) }
  }

  private static func tellNothingIsFollowed() {
    guard StandardStreams.outputIsTerminal, !StandardStreams.isQuiet else { return }
    StandardStreams.tell("You follow no podcasts yet: podcastfs search WORDS")
  }

  private static func show(_ podcasts: [PodcastInfo], now: Int64) {
    if podcasts.isEmpty { return tellNothingIsFollowed() }
    let columns = StandardStreams.outputIsTerminal ? Terminal.output.width : nil
    let longest = podcasts.map { ColumnText.width(PrintableText.line($0.name)) }.max() ?? 0
    let width = max(columns.map { min(longest, $0 / 3) } ?? longest, 7)
    // A few letters of a title say nothing.
    let hasTitles = columns.map { $0 - width >= 52 } ?? true
    func line(_ name: String, _ unplayed: String, _ downloaded: String, _ age: String, _ title: String) {
      let cells = [
        ColumnText.fitted(name, width), ColumnText.right(unplayed, 8), ColumnText.right(downloaded, 10),
        ColumnText.fitted(age, 13),
      ]
      let text = (cells + (hasTitles ? [PrintableText.line(title)] : [])).joined(separator: "  ")
      StandardStreams.print(columns.map { ColumnText.cut(text, $0) } ?? text)
    }
    if columns != nil { line("PODCAST", "UNPLAYED", "DOWNLOADED", "NEWEST", "") }
    for one in podcasts {
      let age = one.newest.map { HumanText.ago(now - $0.published) } ?? "-"
      line(
        one.name, "\(one.podcast.unplayedCount)", "\(one.downloads.episodes)",
        one.podcast.isFetched ? age : "not fetched", one.newest?.title ?? "")
      if let error = one.podcast.error {
        StandardStreams.tell("    " + PrintableText.line(error), hanging: 2, .red)
      }
    }
  }
}

extension Command {
  static let importing = Command(
    """
    podcastfs import [--dry-run] [--linked] [--json] [--quiet] FILE

    Follows every feed in a list (OPML, or one address a line; -: standard input), or the feed or page of a link file (.desktop,
    .url, .webloc). It removes none. Backups also restore positions, played marks, the queue, kept episodes and rules: those of
    AntennaPod (its database), gPodder (the file Database), Overcast ("all data") and podcastfs export --state. Bad entries are
    reported, and the status is 1; good ones are used. A text of which most lines are no addresses is refused.

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
    } catch { throw CommandFailure(of: operand, error) }
    // A search that fails is reported; the others are made all the same.
    for search in isDry ? [] : outcome.searches {
      do {
        _ = try session.wait { session.catalog.search(search, replacing: nil, completion: $0) }
      } catch { outcome.problems.append("cannot search for “\(search)”: \(error)") }
    }
    let isUseless = outcome.added + outcome.known == 0
    StandardStreams.show(json(outcome)) {
      for problem in outcome.problems { StandardStreams.complain(problem) }
      if !isUseless { report(outcome, isDry: isDry) }
    }
    if isUseless { throw CommandFailure("\(operand) has no feed that can be followed") }
    if outcome.refused > 0 { throw CommandEnd() }
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

    Writes your subscriptions as OPML 2.0, to FILE (or the file that it links to) or to standard output. Addresses of private feeds
    are whole: they have your passwords and tokens.

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
      // Files and pipes get the text unchanged. A terminal gets it without control characters.
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
      try Directories.replace(Directories.target(of: file), with: bytes)
    }
  }
}
