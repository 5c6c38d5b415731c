internal import Catalog
internal import Configuration
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

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
    let found = MountedFile.all(atEach: paths)
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
        hits: words.map { (try? session.catalog.transcripts.index().hits(of: key, $0)) ?? [] })
    }
    let lines = found.flatMap(\.lines)
    if let chosen, !lines.isEmpty { return try play(lines, chosen) }
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
    } catch let error as EpisodeQuery.Malformed { throw UsageError(PrintableText.line("\(error)")) }
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

/// Episodes of the catalogue as commands show them: with where they are in a mount, and how far their downloads are.
struct KnownEpisodes {
  struct One {
    let entry: EpisodeEntry
    /// In the mount; nil where nothing is mounted, or no podcast's folder shows the episode.
    let path: String?
    let state: TransferState

    /// "2024-01-03  Harbour Lights — A quiet harbour".
    var name: String {
      let date = CivilTime.date(entry.episode.published)
      return PrintableText.line("\(date)  \(entry.podcast.title) — \(entry.episode.title)")
    }

    var text: String { name + (entry.episode.duration.map { "  \(HumanText.duration(Int64($0)))" } ?? "") }

    /// - Parameter more: members that only this command has.
    func json(_ more: [(String, JSONValue)] = []) -> JSONValue {
      let episode = entry.episode
      let own = JSONValue.members([
        "path": path, "show": entry.podcast.title, "title": episode.title,
        "published": episode.isDated ? CivilTime.iso8601(episode.published) : nil,
        "duration": episode.duration, "played": episode.played,
        "position": Double(episode.listening.position) / 1000, "state": state.name,
      ])
      guard case .object(let members) = own else { return own }
      return .object(more + members)
    }
  }

  private let catalog: Catalog
  private let statuses: [MediaKey: TransferStatus]
  /// The mount that shows the catalogue; nil where there is none.
  private let root: String?

  init(_ session: CatalogSession) throws {
    catalog = session.catalog
    statuses = try session.statuses()
    root = MountServer.mountPoints(places: session.places).min()
  }

  /// Shows episodes, each behind a text of its own, and with `--json` with a member of its own.
  func show(
    _ all: [One], orSay nothing: String, _ mark: (One) -> (key: String, value: JSONValue, text: String)
  ) {
    let marked = all.map { ($0, mark($0)) }
    StandardStreams.show(.array(marked.map { one, mark in one.json([(mark.key, mark.value)]) })) {
      for (one, mark) in marked { StandardStreams.tell(mark.text + one.text, hanging: 5) }
      if all.isEmpty { StandardStreams.complain(nothing) }
    }
  }

  func selected(by query: EpisodeQuery) throws -> [One] {
    let facts = try catalog.entries(forKeys: Array(statuses.keys)).map { key, entry in
      var facts = EpisodeFacts(id: entry.episode.id, title: "", show: "", published: 0)
      facts.take(statuses[key])
      return facts
    }
    let states = EpisodeQuery.State.allCases.filter { $0.isOfDownload && query.concerns($0) }
    let downloads = states.map { state in (state, Set(facts.filter { $0.has(state) }.map(\.id))) }
    return try all(
      catalog.episodes(
        selectedBy: query, downloads: Dictionary(uniqueKeysWithValues: downloads), limit: query.limit
      ).map(\.id))
  }

  func all(_ ids: [Int64]) throws -> [One] {
    let episodes = try catalog.episodes(ids)
    let byID = Dictionary(episodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let podcasts = try catalog.podcasts(Array(Set(episodes.map(\.podcastID))))
    let podcast = Dictionary(podcasts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let folders = try folders(of: Array(podcast.keys))
    return ids.compactMap { byID[$0] }.compactMap { episode in
      guard let podcast = podcast[episode.podcastID] else { return nil }
      let state = statuses[episode.mediaKey]?.state ?? .remote
      let folder = folders[podcast.id].flatMap { folder in
        folder.hidden?.contains(episode.id) ?? episode.hidden ? nil : folder.path
      }
      let shown = folder ?? (state == .cached ? "Downloaded/\(podcast.name)" : nil)
      return One(
        entry: EpisodeEntry(episode: episode, podcast: podcast),
        path: root.flatMap { root in shown.map { "\(root)/\($0)/\(episode.fileName)" } }, state: state)
    }
  }

  /// In the mount, and the episodes that it does not show: nil for those that are hidden in the show.
  private typealias Folder = (path: String, hidden: Set<Int64>?)

  /// By podcast: the folder that shows its episodes, a subscription's before a search's.
  private func folders(of podcasts: [Int64]) throws -> [Int64: Folder] {
    var folders: [Int64: Folder] = [:]
    for listed in try catalog.subscriptions() {
      folders[listed.podcast.id] = ("Subscriptions/\(listed.name)", nil)
    }
    let results = try catalog.results(showing: podcasts.filter { folders[$0] == nil })
    for search in results.isEmpty ? [] : try catalog.searches() {
      let above = search.category.map {
        ["Discover", $0, search.language].compactMap(\.self).joined(separator: "/")
      }
      for listed in try catalog.results(ofSearch: search.id) where folders[listed.podcast.id] == nil {
        let hidden = results[listed.podcast.id]?[listed.id] ?? []
        folders[listed.podcast.id] = ("\(above ?? "Search/\(search.name)")/\(listed.name)", hidden)
      }
    }
    return folders
  }
}
