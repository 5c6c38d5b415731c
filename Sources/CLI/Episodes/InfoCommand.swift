internal import Catalog
internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferProtocol

extension Command {
  static let info = Command(
    """
    podcastfs info [--json|--window] PATH…

    Of an episode: date, length, state of the download, links, notes and chapters. Of a podcast: description, feed, number of
    episodes, and why its feed cannot be read; the first time it fetches the feed. PATH is in a mount; a podcast may also be
    named by its folder, title or feed's address.

      --window  opens it in the desktop's program for texts
    """
  ) { arguments in
    let isWindow = arguments.takeFlag("--window")
    let paths = try arguments.operands()
    let session = try CatalogSession()
    var pages: [InfoPage] = []
    let end = Result { try paths.forEachReporting { pages.append(try page($0, session)) } }
    let documents = pages.map(\.json)
    try StandardStreams.show(paths.count == 1 ? documents.first ?? .null : .array(documents)) {
      if isWindow, !pages.isEmpty { return try open(pages, session.places) }
      for (place, page) in pages.enumerated() {
        if place > 0 { StandardStreams.print("") }
        for part in page.parts.compactMap(\.self) {
          StandardStreams.tell(part.text, hanging: part.hanging, part.color)
        }
      }
    }
    try end.get()
  }

  private static func open(_ pages: [InfoPage], _ places: Places) throws {
    let file = places.runtime + "/information.txt"
    let texts = pages.map { $0.parts.compactMap { $0?.text }.joined(separator: "\n") }
    let text = PrintableText.block(texts.joined(separator: "\n\n\n")) + "\n"
    try Directories.replace(file, with: Array(text.utf8), outlivesPower: false)
    guard let opener = ChildProcess.find("xdg-open"),
      try ChildProcess.wait(ChildProcess.start(opener, [file], isDetached: false)) == 0
    else { throw CommandFailure("no program for texts can be started") }
  }

  private static func page(_ path: String, _ session: CatalogSession) throws -> InfoPage {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      let row = try session.node(at: path, with: "state", "an episode")?.row
      guard let episode = try row.flatMap({ try session.catalog.episode($0) }),
        let podcast = try session.catalog.podcast(episode.podcastID)
      else { throw CommandFailure("\(path): the catalogue no longer has it") }
      return try EpisodeInfo(EpisodeEntry(episode: episode, podcast: podcast), session).page(path)
    }
    let podcast = try session.knownPodcast(path)
    // Where it fails, the information says why.
    _ = try? session.wait { session.catalog.refresh(podcast: podcast, cause: .firstLook, completion: $0) }
    return try PodcastInfo(podcast, session).page
  }
}

/// What is known of an episode or a podcast, for scripts and for people. nil parts are left out.
typealias InfoPage = (json: JSONValue, parts: [InfoPart?])

struct InfoPart {
  let text: String
  let hanging: Int
  let color: Style.Color?

  init(_ text: String, _ hanging: Int = 0, _ color: Style.Color? = nil) {
    (self.text, self.hanging, self.color) = (text, hanging, color)
  }
}

private struct EpisodeInfo {
  private let entry: EpisodeEntry
  private let status: TransferStatus
  /// In bytes; nil where neither a host nor the feed tells it.
  private let size: Int64?
  /// The chapters in the feed, else those in the file that the feed names; a failure where that file cannot be fetched.
  private let chapters: Result<[ChapterList.Chapter], any Error>
  private let now: Int64

  init(_ entry: EpisodeEntry, _ session: CatalogSession) throws {
    self.entry = entry
    now = session.catalog.now
    let key = entry.episode.mediaKey
    status = try session.statuses()[key] ?? TransferStatus(TransferRequest(key: key))
    size = status.total ?? EpisodeSize.plausibleLength(of: entry.episode)
    let told = entry.episode.chapters.flatMap { ChapterList(parsing: Array($0.utf8)) }
    chapters = Result {
      try told?.chapters ?? entry.episode.chaptersURL.map { try Self.chapters(at: $0, entry, session) } ?? []
    }
  }

  private static func chapters(
    at url: WebAddress, _ entry: EpisodeEntry, _ session: CatalogSession
  ) throws -> [ChapterList.Chapter] {
    var bytes = SidecarCopies.chapters(of: entry, in: session.places)
    if bytes == nil {
      let downloads = SidecarDownloads(
        http: session.http, settings: session.settings, log: LogFile(session.places.logFile))
      let result = Waiting.result(within: 10) {
        downloads.fetch(
          FeedCredentials.lent(by: entry.podcast.feedURL, to: url),
          allowsPrivateHosts: entry.podcast.allowsPrivateHosts, acceptsPages: false, completion: $0)
      }
      guard let result else { throw CommandFailure("no answer") }
      bytes = try result.get()
    }
    guard let list = bytes.flatMap({ ChapterList(parsing: $0) }) else {
      throw CommandFailure("\(url.host ?? "the host") sent something else")
    }
    return list.chapters
  }

  private func shown(_ url: WebAddress) -> String { url.shown(isListed: entry.podcast.isListed) }

  func page(_ path: String) -> InfoPage {
    let episode = entry.episode
    let notes = PlainText.text(episode.notes ?? "")
    var parts: [InfoPart?] = [
      .init(episode.title, 2), .init(facts.joined(separator: ", "), 2),
      .init(states.joined(separator: ", "), 2, status.state == .failed ? .red : nil),
      episode.link.map { .init("page   \(shown($0))") }, .init("audio  \(shown(episode.enclosureURL))"),
      notes.isEmpty ? nil : .init("\n\(notes)"),
    ]
    switch chapters {
    case .failure(let error): parts.append(.init("\nChapters cannot be fetched: \(error)"))
    case .success(let list):
      let width = PositionText.clock(list.last?.start ?? 0).count
      if !list.isEmpty { parts.append(.init("\nChapters")) }
      for chapter in list {
        let time = ColumnText.right(PositionText.clock(chapter.start), width)
        parts.append(.init("  \(time)  \(chapter.title ?? "")", width + 2))
      }
    }
    let json = JSONValue.members([
      "path": path, "title": episode.title, "show": entry.podcast.title,
      "published": episode.isDated ? CivilTime.iso8601(episode.published) : nil, "duration": episode.duration,
      "season": episode.season, "episode": episode.episode, "explicit": episode.explicit,
      "state": status.state.name, "bytes_received": status.received, "bytes_total": size,
      "error": status.reason, "keep": status.isKept, "played": episode.played,
      "position": Double(episode.listening.position) / 1000,
      "last_played": episode.listening.lastPlayed.map(CivilTime.iso8601), "guid": episode.guid,
      "link": episode.link.map(shown), "url": shown(episode.enclosureURL),
      "image": episode.imageURL.map(shown), "notes": notes.isEmpty ? nil : notes, "links": links(in: notes),
      "chapters": (try? chapters.get())?.map {
        JSONValue.members(["start": Double($0.start) / 1000, "title": $0.title, "url": $0.link?.shown])
      },
      "transcripts": episode.transcripts.map {
        JSONValue.members(["url": shown($0.url), "type": $0.type, "language": $0.language])
      },
    ])
    return (json, parts)
  }

  /// The addresses in notes that `PlainText` has made.
  private func links(in notes: String) -> [String] {
    notes.split { $0.isWhitespace || "<>()\"".contains($0) }.reduce(into: []) { links, word in
      guard word.hasPrefix("http://") || word.hasPrefix("https://") else { return }
      let link = String(word.reversed().drop { ".,;:!?".contains($0) }.reversed())
      if !links.contains(link) { links.append(link) }
    }
  }

  private var facts: [String] {
    let episode = entry.episode
    let date = String(CivilTime.iso8601(episode.published).prefix(10))
    let facts: [String?] = [
      entry.podcast.title,
      "\(episode.isDated ? "" : "first seen ")\(date) (\(HumanText.ago(now - episode.published)))",
      episode.season.map { "season \($0)" }, episode.episode.map { "episode \($0)" },
      episode.duration.map { HumanText.duration(Int64($0)) }, episode.explicit == true ? "explicit" : nil,
    ]
    return facts.compactMap(\.self)
  }

  private var states: [String] {
    let (bytes, received) = (size.map { HumanText.size($0) }, HumanText.size(status.received))
    var words =
      switch status.state {
      case .remote: ["not downloaded" + (bytes.map { " (\($0))" } ?? "")]
      case .cached: ["downloaded (\(received))"]
      default: ["\(status.state.name) (\(received)\(bytes.map { " of \($0)" } ?? ""))"]
      }
    if let reason = status.reason { words[0] += ": \(PrintableText.line(reason))" }
    if status.isKept { words.append("kept") }
    if entry.episode.hidden { words.append("hidden") }
    let listening = entry.episode.listening
    if listening.isPlayed {
      words.append("played" + (listening.lastPlayed.map { " \(HumanText.ago(now - $0))" } ?? ""))
    } else if listening.position > 0 {
      words.append("at \(PositionText.clock(listening.position))")
    } else {
      words.append("unplayed")
    }
    return words
  }
}

struct PodcastInfo {
  let podcast: Podcast
  let downloads: DownloadCounts
  let newest: Episode?
  private let listed: ListedPodcast?
  private let rules: SubscriptionRules
  private let missing: String?
  private let now: Int64

  init(_ id: Int64, _ session: CatalogSession) throws {
    guard let podcast = try session.catalog.podcast(id) else {
      throw CommandFailure("the catalogue no longer has the podcast")
    }
    try self.init(podcast, session.subscription(ofPodcast: id), DownloadCounts.all(session)[id], session)
  }

  init(
    _ podcast: Podcast, _ listed: ListedPodcast?, _ downloads: DownloadCounts?, _ session: CatalogSession
  ) throws {
    (self.podcast, self.listed, self.downloads) = (podcast, listed, downloads ?? DownloadCounts())
    rules = listed == nil ? SubscriptionRules() : try session.catalog.effectiveRules(ofPodcast: podcast.id)
    newest = try session.catalog.episodes(ofPodcast: podcast.id).filter { !$0.hidden }
      .max { $0.published < $1.published }
    missing = try session.catalog.missingPages(ofPodcast: podcast.id)
    now = session.catalog.now
  }

  var name: String { listed?.name ?? podcast.name }

  var page: InfoPage {
    let follows = listed.map { "followed as \"\(PrintableText.line($0.name))\"" } ?? "not followed"
    let hidden = listed?.hiddenCount ?? 0
    let size = HumanText.size(downloads.bytes)
    let counts: [String?] = [
      follows, HumanText.count(podcast.episodeCount, "episode"), "\(podcast.unplayedCount) unplayed",
      hidden > 0 ? "\(hidden) hidden" : nil,
      downloads.episodes > 0 ? "\(downloads.episodes) downloaded (\(size))" : nil,
    ]
    let texts = SubscriptionRules.Key.allCases.compactMap { key in
      rules.text(key).map { "\(key.rawValue)=\($0)" }
    }
    let kinds = [podcast.language].compactMap(\.self) + podcast.categories
    let description = podcast.description.map(PlainText.text)
    func shown(_ url: WebAddress) -> String { url.shown(isListed: podcast.isListed) }
    let parts: [InfoPart?] = [
      .init(PrintableText.line(podcast.title + (podcast.author.map { " — \($0)" } ?? "")), 2),
      .init(counts.compactMap(\.self).joined(separator: ", "), 2),
      newest.map { .init("newest \(HumanText.ago(now - $0.published)): \($0.title)", 2) },
      .init(refreshes, 2), podcast.error.map { .init(PrintableText.line($0), 2, .red) },
      missing == podcast.error ? nil : missing.map { .init(PrintableText.line($0), 2) },
      texts.isEmpty ? nil : .init("rules  \(texts.joined(separator: ", "))", 7),
      .init("feed   \(shown(podcast.feedURL))"), podcast.link.map { .init("page   \(shown($0))") },
      kinds.isEmpty ? nil : .init("about  \(kinds.joined(separator: ", "))", 7),
      description.flatMap { $0.isEmpty ? nil : .init("\n\($0)") },
    ]
    let json = JSONValue.members([
      "title": podcast.title, "name": listed?.name, "followed": listed != nil, "author": podcast.author,
      "feed_url": shown(podcast.feedURL), "link": podcast.link.map(shown),
      "image": podcast.imageURL.map(shown), "language": podcast.language, "categories": podcast.categories,
      "explicit": podcast.explicit, "episode_count": podcast.episodeCount,
      "unplayed_count": podcast.unplayedCount, "hidden_count": hidden,
      "downloaded_count": downloads.episodes, "downloaded_bytes": downloads.bytes,
      "newest": newest.map {
        JSONValue.members(["title": $0.title, "published": CivilTime.iso8601($0.published)])
      }, "last_refresh": podcast.lastRefresh.map(CivilTime.iso8601),
      "next_refresh": podcast.nextRefresh.map(CivilTime.iso8601), "error": podcast.error,
      "rules": rules.json, "description": description,
    ])
    return (json, parts)
  }

  private var refreshes: String {
    guard let last = podcast.lastRefresh else { return "not fetched yet" }
    let next = listed == nil ? nil : podcast.nextRefresh.map { $0 - now }
    let due = next.map { $0 > 0 ? ", next in \(HumanText.span($0))" : ", due now" } ?? ""
    return "refreshed \(HumanText.ago(now - last))\(due)"
  }
}

struct DownloadCounts {
  var episodes = 0
  var bytes: Int64 = 0

  /// By podcast.
  static func all(_ session: CatalogSession) throws -> [Int64: DownloadCounts] {
    let cached = try session.statuses().values.filter { $0.state == .cached }
    let entries = try session.catalog.entries(forKeys: cached.map(\.key))
    return cached.reduce(into: [:]) { counts, status in
      guard let podcast = entries[status.key]?.podcast.id else { return }
      counts[podcast, default: DownloadCounts()].episodes += 1
      counts[podcast, default: DownloadCounts()].bytes += status.received
    }
  }
}
