internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import Transcripts

enum FindCommand: Command {
  static let name = "find"
  static let summary = "find episodes among all that are known"
  static let usage = """
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
      --json           [{"path", "show", "title", "published", "duration", "played", "position", "state", "hits": [{"start",
                       "speaker", "text"}]}]
      --play N         plays the Nth line: mpv from its time, else the desktop's player
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let chosen = try arguments.takeNumber("--play", in: 1...EpisodeQuery.largestLimit)
    let opposites = arguments.takeWords(beginningWith: "-is:")
    let words = try arguments.operands() + opposites
    if words.isEmpty { throw UsageError("find takes the words of a query") }
    let query = try query(words)
    let session = try CatalogSession()
    defer { session.settle() }
    let found = try KnownEpisodes(session).selected(by: query)
    let lines = found.flatMap { Line.all(of: $0, query, session) }
    if let chosen { return try play(lines, chosen) }
    if isJSON {
      StandardStreams.print(
        JSONValue.array(found.map { Line.json(of: $0, query, session) }).indentedText)
    } else {
      for line in lines {
        // A path stays whole, to be copied.
        if line.episode.path == nil {
          StandardStreams.tell(line.text, hanging: 12)
        } else {
          StandardStreams.print(line.text)
        }
      }
      if lines.isEmpty { StandardStreams.complain("no known episode matches") }
    }
    return lines.isEmpty && !isJSON ? 1 : 0
  }

  /// An episode, or a place in it where something is said.
  private struct Line {
    let episode: KnownEpisodes.One
    let hit: TranscriptHit?

    static func all(of episode: KnownEpisodes.One, _ query: EpisodeQuery, _ session: CatalogSession) -> [Line]
    {
      guard let hits = hits(of: episode, query, session) else { return [Line(episode: episode, hit: nil)] }
      return hits.map { Line(episode: episode, hit: $0) }
    }

    /// Nil where the query looks for nothing that was said.
    private static func hits(
      of episode: KnownEpisodes.One, _ query: EpisodeQuery, _ session: CatalogSession
    ) -> [TranscriptHit]? {
      guard let words = TranscriptQuery(query.transcript) else { return nil }
      return (try? session.catalog.transcripts.index()?.hits(of: episode.entry.episode.mediaKey, words)) ?? []
    }

    static func json(
      of episode: KnownEpisodes.One, _ query: EpisodeQuery, _ session: CatalogSession
    ) -> JSONValue {
      let hits = hits(of: episode, query, session)?.map { hit in
        JSONValue.members(["start": Double(hit.start) / 1000, "speaker": hit.speaker, "text": hit.text])
      }
      return episode.json(hits.map { [("hits", .array($0))] } ?? [])
    }

    var text: String {
      let path = episode.path.map(PrintableText.line)
      guard let hit else { return path ?? episode.text }
      return "\(path ?? episode.name):\(HumanText.duration(Int64(hit.start / 1000))): \(hit.text)"
    }
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
      let text = try EpisodeQuery(parsing: words) == nil ? "episode: " + words : words
      guard let query = try EpisodeQuery(parsing: text) else { throw UsageError("no query") }
      return query
    } catch let error as EpisodeQuery.Malformed {
      throw UsageError(PrintableText.line("\(error)"))
    }
  }

  private static func play(_ lines: [Line], _ chosen: Int) throws -> Int32 {
    guard lines.indices.contains(chosen - 1) else {
      throw CommandFailure("there are only \(HumanText.count(lines.count, "line"))")
    }
    let line = lines[chosen - 1]
    guard let path = line.episode.path else {
      throw CommandFailure("no folder shows it")
    }
    guard let player = ["mpv", "xdg-open"].lazy.compactMap({ ChildProcess.find($0) }).first else {
      throw CommandFailure("there is no player: \(path)")
    }
    let start = line.hit.map { "--start=\(Double($0.start) / 1000)" }
    let options = player.hasSuffix("/mpv") ? start.map { [$0] } ?? [] : []
    let process = try ChildProcess.start(player, options + [path], files: [0, 1, 2], isDetached: false)
    return try ChildProcess.wait(process)
  }
}
