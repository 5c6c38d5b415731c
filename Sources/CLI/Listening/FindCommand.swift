internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import Transcripts

enum FindCommand: Command {
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
      --play N         plays the Nth line: mpv from its time, else the desktop's player
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let chosen = try arguments.takeNumber("--play", in: 1...EpisodeQuery.largestLimit)
    let query = try query(arguments.operands())
    let session = try CatalogSession()
    defer { session.settle() }
    let found = try KnownEpisodes(session).selected(by: query).map {
      Found(episode: $0, hits: hits(of: $0, query, session))
    }
    if let chosen { return try play(found.flatMap(\.lines), chosen) }
    StandardStreams.show(.array(found.map(\.json))) {
      for line in found.flatMap(\.lines) {
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

  /// Nil where the query looks for nothing that was said.
  private static func hits(
    of episode: KnownEpisodes.One, _ query: EpisodeQuery, _ session: CatalogSession
  ) -> [TranscriptHit]? {
    guard let words = TranscriptQuery(query.transcript) else { return nil }
    return (try? session.catalog.transcripts.index()?.hits(of: episode.entry.episode.mediaKey, words)) ?? []
  }

  private struct Found {
    let episode: KnownEpisodes.One
    let hits: [TranscriptHit]?

    /// One for each place where something is said, or one for the episode.
    var lines: [(path: String?, start: UInt32?, text: String)] {
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

  private static func play(_ lines: [(path: String?, start: UInt32?, text: String)], _ chosen: Int) throws {
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
