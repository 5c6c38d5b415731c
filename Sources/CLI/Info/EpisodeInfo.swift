internal import Catalog
internal import Configuration
internal import MountService
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferProtocol

/// What is known of an episode, for people and for scripts.
struct EpisodeInfo {
  private let entry: EpisodeEntry
  private let path: String
  private let status: TransferStatus
  /// In bytes; nil where neither a host nor the feed tells it.
  private let size: Int64?
  /// The chapters in the feed, else those in the file that the feed names; nil where that file cannot be fetched.
  private let chapters: ChapterList?
  /// Why they cannot be fetched.
  private let chapterFailure: String?
  private let now: Int64

  init(_ entry: EpisodeEntry, _ path: String, _ session: CatalogSession) throws {
    self.entry = entry
    self.path = path
    now = session.catalog.now
    let key = entry.episode.mediaKey
    status = try session.statuses()[key] ?? TransferStatus(TransferRequest(key: key))
    size = status.total ?? EpisodeSize.plausibleLength(of: entry.episode)
    if let told = entry.episode.chapters.flatMap({ ChapterList(parsing: Array($0.utf8)) }) {
      (chapters, chapterFailure) = (told, nil)
    } else if let url = entry.episode.chaptersURL {
      do { (chapters, chapterFailure) = (try Self.chapters(at: url, entry, session), nil) } catch {
        (chapters, chapterFailure) = (nil, "\(error)")
      }
    } else {
      (chapters, chapterFailure) = (ChapterList([]), nil)
    }
  }

  private static func chapters(
    at url: WebAddress, _ entry: EpisodeEntry, _ session: CatalogSession
  ) throws -> ChapterList {
    var bytes = SidecarCopies.chapters(of: entry, in: session.places)
    if bytes == nil {
      let downloads = SidecarDownloads(
        http: session.http, settings: session.settings, log: LogFile(session.places.logFile))
      let address = FeedCredentials.lent(by: entry.podcast.feedURL, to: url)
      let result = Waiting.result(within: 10) {
        downloads.fetch(
          address, allowsPrivateHosts: entry.podcast.allowsPrivateHosts, acceptsPages: false, completion: $0)
      }
      guard let result else { throw CommandFailure("no answer") }
      bytes = try result.get()
    }
    guard let list = bytes.flatMap({ ChapterList(parsing: $0) }) else {
      throw CommandFailure("\(url.host ?? "the host") sent something else")
    }
    return list
  }

  private var episode: Episode { entry.episode }
  private var notes: String { PlainText.text(episode.notes ?? "") }

  private func shown(_ url: WebAddress) -> String { url.shown(isListed: entry.podcast.isListed) }

  var text: [InfoCommand.Part] {
    var parts: [InfoCommand.Part] = [
      .init(episode.title, 2), .init(facts.joined(separator: ", "), 2),
      .init(states.joined(separator: ", "), 2, status.state == .failed ? .red : nil),
    ]
    if let link = episode.link { parts.append(.init("page   \(shown(link))")) }
    parts.append(.init("audio  \(shown(episode.enclosureURL))"))
    if !notes.isEmpty { parts.append(.init("\n\(notes)")) }
    if let chapterFailure { parts.append(.init("\nChapters cannot be fetched: \(chapterFailure)")) }
    if let list = chapters?.chapters, let last = list.last {
      parts.append(.init("\nChapters"))
      let width = PositionText.clock(last.start).count
      for chapter in list {
        let time = ColumnText.right(PositionText.clock(chapter.start), width)
        parts.append(.init("  \(time)  \(chapter.title ?? "")", width + 2))
      }
    }
    return parts
  }

  private var facts: [String] {
    let date = String(CivilTime.iso8601(episode.published).prefix(10))
    let number = [episode.season.map { "season \($0)" }, episode.episode.map { "episode \($0)" }]
    return [
      entry.podcast.title,
      "\(episode.isDated ? "" : "first seen ")\(date) (\(HumanText.ago(now - episode.published)))",
    ] + number.compactMap(\.self)
      + [episode.duration.map { HumanText.duration(Int64($0)) }].compactMap(\.self)
      + (episode.explicit == true ? ["explicit"] : [])
  }

  private var states: [String] {
    let bytes = size.map { HumanText.size($0) }
    var words: [String]
    switch status.state {
    case .remote: words = ["not downloaded" + (bytes.map { " (\($0))" } ?? "")]
    case .cached: words = ["downloaded (\(HumanText.size(status.received)))"]
    default:
      let whole = bytes.map { " of \($0)" } ?? ""
      words = ["\(status.state.name) (\(HumanText.size(status.received))\(whole))"]
    }
    if let reason = status.reason { words[0] += ": \(PrintableText.line(reason))" }
    if status.isKept { words.append("kept") }
    if episode.hidden { words.append("hidden") }
    let listening = episode.listening
    if listening.isPlayed {
      words.append("played" + (listening.lastPlayed.map { " \(HumanText.ago(now - $0))" } ?? ""))
    } else if listening.position > 0 {
      words.append("at \(PositionText.clock(listening.position))")
    } else {
      words.append("unplayed")
    }
    return words
  }

  var json: JSONValue {
    .members([
      "path": path, "title": episode.title, "show": entry.podcast.title,
      "published": episode.isDated ? CivilTime.iso8601(episode.published) : nil, "duration": episode.duration,
      "season": episode.season, "episode": episode.episode, "explicit": episode.explicit,
      "state": status.state.name, "bytes_received": status.received, "bytes_total": size,
      "error": status.reason, "keep": status.isKept, "played": episode.played,
      "position": Double(episode.listening.position) / 1000,
      "last_played": episode.listening.lastPlayed.map(CivilTime.iso8601), "guid": episode.guid,
      "link": episode.link.map(shown), "url": shown(episode.enclosureURL),
      "image": episode.imageURL.map(shown), "notes": notes.isEmpty ? nil : notes,
      "links": NoteLinks.all(in: notes),
      "chapters": chapters?.chapters.map {
        JSONValue.members(["start": Double($0.start) / 1000, "title": $0.title, "url": $0.link?.shown])
      },
      "transcripts": episode.transcripts.map {
        JSONValue.members(["url": shown($0.url), "type": $0.type, "language": $0.language])
      },
    ])
  }
}

/// The addresses in notes that `PlainText` has made.
enum NoteLinks {
  static func all(in notes: String) -> [String] {
    var links: [String] = []
    let words = notes.split(whereSeparator: { $0.isWhitespace || "<>()\"".contains($0) })
    for word in words where word.hasPrefix("http://") || word.hasPrefix("https://") {
      var link = word
      while let last = link.last, ".,;:!?".contains(last) { link.removeLast() }
      if !links.contains(String(link)) { links.append(String(link)) }
    }
    return links
  }
}
