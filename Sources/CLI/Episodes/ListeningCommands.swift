internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Transcripts

extension Command {
  static let new = Command(
    """
    podcastfs new [--json]

    Lists the unplayed episodes of your subscriptions, as Latest/ does, the newest first. * marks those that it has not listed
    before.
    """
  ) { arguments in
    _ = try arguments.operands()
    let session = try CatalogSession()
    let (settings, file) = (session.settings, session.places.state + "/last-look.json")
    let known = try KnownEpisodes(session)
    let shown = try known.selected(by: .latest(settings.latest, days: settings.latestDays))
    let bytes = try? Directories.read(file, limit: 1 << 20)
    let seen = Set((bytes.flatMap { try? JSONValue(parsing: $0) }?.elements ?? []).compactMap(\.wholeNumber))
    known.show(shown, orSay: "nothing is new") { one in
      let isNew = !seen.contains(one.entry.episode.id)
      return ("new", .bool(isNew), isNew ? "* " : "  ")
    }
    let ids = JSONValue.array(shown.map { .integer($0.entry.episode.id) })
    try? Directories.replace(file, with: Array(ids.compactText.utf8))
  }

  static let queue = Command(
    """
    podcastfs queue [--json]
    podcastfs queue add|first|remove PATH…
    podcastfs queue clear

    Lists the queue, as Queue/ does; appends episodes, puts them first, removes them, or removes all. PATH is an episode, or a
    folder or the name of a subscription: all episodes directly in it. The cache never evicts what is queued. The next episodes
    are downloaded ahead (queue_ahead). A played episode leaves the queue.
    """
  ) { arguments in
    let words = try arguments.operands()
    let session = try CatalogSession()
    let catalog = session.catalog
    let paths = words.dropFirst().map(UserMount.path)
    switch (words.first, paths.isEmpty) {
    case (nil, _):
      let entries = try catalog.queueEntries()
      let places = Dictionary(entries.map { ($0.episode, $0.place) }, uniquingKeysWith: { first, _ in first })
      let known = try KnownEpisodes(session)
      known.show(try known.all(entries.map(\.episode)), orSay: "the queue is empty") { one in
        let place = places[one.entry.episode.id] ?? 0
        return ("place", .integer(Int64(place)), CivilTime.padded(place, 3) + "  ")
      }
    case ("clear", true): try catalog.removeFromQueue(catalog.queueEntries().map(\.episode))
    case ("add", false): try changeQueue(paths, session) { try catalog.appendToQueue($0) }
    case ("first", false): try changeQueue(paths, session) { try catalog.putFirstInQueue($0) }
    case ("remove", false): try changeQueue(paths, session) { try catalog.removeFromQueue($0) }
    default: throw UsageError("queue takes add, first or remove with paths, or clear")
    }
  }

  private static func changeQueue(
    _ paths: [String], _ session: CatalogSession, _ body: ([Int64]) throws -> Void
  ) throws {
    let found = MountedEpisode.all(atEach: paths)
    found.report()
    try MountOwner.check(paths, places: session.places)
    let ids = found.episodes.compactMap(\.row).reduce(into: [Int64]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    if !ids.isEmpty { try body(ids) }
    if !found.failures.isEmpty { throw CommandEnd() }
  }

  static let find = Command(
    """
    podcastfs find [--json] [--play N] QUERY…

    Lists the episodes that a query selects, without the network: their paths, or podcast and title where no folder shows them.
    transcript: shows each place as grep does. Plain words are searched in titles and notes. Other words:

      is:STATE         unplayed, started, played, cached, kept, followed or queued; -is: excludes
      newer:7d         or older:2026-01-31: an age (12h, 7d, 3w, 2m, 1y) or a date
      longer:1h        or shorter:30m
      show:TITLE       or person:NAME, season:2; show:"two words"
      transcript:WORD  or transcript:"A PHRASE": said in a downloaded transcript
      sort:ORDER       newest, oldest, title or shortest
      limit:N          1,000 at most
      --play N         plays the Nth line: mpv from its time, else the desktop's player
    """
  ) { arguments in
    let chosen = try arguments.takeNumber("--play", in: 1...EpisodeQuery.largestLimit)
    let query = try query(arguments.operands())
    let session = try CatalogSession()
    let words = TranscriptQuery(query.transcript)
    let found = try KnownEpisodes(session).selected(by: query).map { episode in
      let key = episode.entry.episode.mediaKey
      return FoundEpisode(
        episode: episode,
        hits: words.map { (try? session.catalog.transcripts.index()?.hits(of: key, $0)) ?? [] })
    }
    let lines = found.flatMap(\.lines)
    if let chosen { return try play(lines, chosen) }
    StandardStreams.show(.array(found.map(\.json))) {
      for line in lines {
        // A path stays whole, to be copied.
        if line.path == nil {
          StandardStreams.tell(line.text, hanging: 12)
        } else {
          StandardStreams.print(line.text)
        }
      }
      if found.isEmpty { StandardStreams.complain("no known episode matches") }
    }
    if found.isEmpty { throw CommandEnd() }
  }

  /// A shell has taken the quotation marks away: a word with a blank in it gets them back.
  private static func query(_ words: [String]) throws -> EpisodeQuery {
    let quoted = words.map { word -> String in
      guard words.count > 1, word.contains(where: \.isWhitespace), !word.contains("\"") else { return word }
      guard let colon = word.firstIndex(of: ":") else { return "\"\(word)\"" }
      return "\(word[...colon])\"\(word[word.index(after: colon)...])\""
    }
    let words = quoted.joined(separator: " ")
    do {
      if let query = try EpisodeQuery(parsing: words) ?? EpisodeQuery(parsing: "episode: " + words) {
        return query
      }
    } catch let error as EpisodeQuery.Malformed {
      throw UsageError(PrintableText.line("\(error)"))
    }
    throw UsageError("no query")
  }

  private static func play(_ lines: [FoundEpisode.Line], _ chosen: Int) throws {
    guard lines.indices.contains(chosen - 1) else {
      throw CommandFailure("there are only \(HumanText.count(lines.count, "line"))")
    }
    guard let path = lines[chosen - 1].path else { throw CommandFailure("no folder shows it") }
    guard let player = ["mpv", "xdg-open"].lazy.compactMap({ ChildProcess.find($0) }).first else {
      throw CommandFailure("there is no player: \(path)")
    }
    let start = lines[chosen - 1].start.flatMap {
      player.hasSuffix("/mpv") ? "--start=\(Double($0) / 1000)" : nil
    }
    let process = try ChildProcess.start(
      player, [start].compactMap(\.self) + [path], files: [0, 1, 2], isDetached: false)
    let status = try ChildProcess.wait(process)
    if status != 0 { throw CommandEnd(status: status) }
  }
}

private struct FoundEpisode {
  let episode: KnownEpisodes.One
  /// Nil where the query looks for nothing that was said.
  let hits: [TranscriptHit]?

  /// - start: milliseconds; nil for a whole episode.
  typealias Line = (path: String?, start: UInt32?, text: String)

  /// One for each place where something is said, or one for the episode.
  var lines: [Line] {
    let path = episode.path.map(PrintableText.line)
    guard let hits else { return [(episode.path, nil, path ?? episode.text)] }
    return hits.map { hit in
      let place = HumanText.duration(Int64(hit.start / 1000))
      return (episode.path, UInt32(hit.start), "\(path ?? episode.name):\(place): \(hit.text)")
    }
  }

  var json: JSONValue {
    let all = hits?.map { hit in
      JSONValue.members(["start": Double(hit.start) / 1000, "speaker": hit.speaker, "text": hit.text])
    }
    return episode.json(all.map { [("hits", .array($0))] } ?? [])
  }
}
