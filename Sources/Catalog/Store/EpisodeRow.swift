internal import PodcastModel
internal import SQLiteKit

/// How an episode lies in its row.
enum EpisodeRow {
  enum Column: Int, ColumnList {
    case id, podcastID, mediaKey, stem, `extension`, title, published, enclosureURL, guid, isDated, mediaType,
      feedLength
    case duration, season, number, explicit, link, imageURL, transcripts, chaptersURL, played, hidden,
      notesLength
    case isReplaced, modified
  }

  /// For a `FROM episode e`.
  static let columns = Column.list(of: "e")
  static let count = Column.count

  /// - Parameter first: the column where `columns` begin.
  static func read(_ row: borrowing Row, from first: Int = 0) -> Episode {
    var episode = Episode(
      id: row.int64(Column.id, from: first), podcastID: row.int64(Column.podcastID, from: first),
      mediaKey: mediaKey(row.blob(Column.mediaKey, from: first)), stem: row.string(Column.stem, from: first),
      fileExtension: row.string(Column.extension, from: first),
      title: TitleText.plain(row.string(Column.title, from: first)),
      published: row.int64(Column.published, from: first),
      enclosureURL: WebAddress(row.string(Column.enclosureURL, from: first)))
    episode.guid = row.stringIfPresent(Column.guid, from: first)
    episode.isDated = row.bool(Column.isDated, from: first)
    episode.mediaType = row.stringIfPresent(Column.mediaType, from: first)
    episode.feedLength = row.int64IfPresent(Column.feedLength, from: first)
    episode.duration = row.intIfPresent(Column.duration, from: first)
    episode.season = row.intIfPresent(Column.season, from: first)
    episode.episode = row.intIfPresent(Column.number, from: first)
    episode.explicit = row.boolIfPresent(Column.explicit, from: first)
    episode.link = row.stringIfPresent(Column.link, from: first).map { WebAddress($0) }
    episode.imageURL = row.stringIfPresent(Column.imageURL, from: first).map { WebAddress($0) }
    episode.transcripts = row.stringIfPresent(Column.transcripts, from: first).map(transcripts) ?? []
    episode.chaptersURL = row.stringIfPresent(Column.chaptersURL, from: first).map { WebAddress($0) }
    episode.played = row.bool(Column.played, from: first)
    episode.hidden = row.bool(Column.hidden, from: first)
    episode.notesLength = row.int(Column.notesLength, from: first)
    episode.isReplaced = row.bool(Column.isReplaced, from: first)
    episode.modified = row.int64(Column.modified, from: first)
    return episode
  }

  private enum SummaryColumn: Int, ColumnList {
    case id, podcastID, mediaKey, stem, `extension`, modified, mediaType, feedLength, duration, notesLength,
      transcripts, chaptersURL, hidden
  }

  /// For a `FROM episode e`.
  static let summaryColumns = SummaryColumn.list(of: "e")

  static func readSummary(_ row: borrowing Row) -> EpisodeSummary {
    EpisodeSummary(
      id: row.int64(SummaryColumn.id), podcastID: row.int64(SummaryColumn.podcastID),
      mediaKey: mediaKey(row.blob(SummaryColumn.mediaKey)), stem: row.string(SummaryColumn.stem),
      fileExtension: row.string(SummaryColumn.extension), modified: row.int64(SummaryColumn.modified),
      mediaType: row.stringIfPresent(SummaryColumn.mediaType),
      feedLength: row.int64IfPresent(SummaryColumn.feedLength),
      duration: row.intIfPresent(SummaryColumn.duration), notesLength: row.int(SummaryColumn.notesLength),
      transcripts: row.stringIfPresent(SummaryColumn.transcripts).map(transcripts) ?? [],
      chaptersURL: row.stringIfPresent(SummaryColumn.chaptersURL).map { WebAddress($0) },
      hidden: row.bool(SummaryColumn.hidden))
  }

  /// A media key as the 16 bytes that its digits mean.
  static func blob(_ key: MediaKey) -> [UInt8] { key.bytes }

  /// A damaged file says anything: what cannot be a key becomes one that names nothing in the cache.
  static func mediaKey(_ blob: [UInt8]) -> MediaKey {
    MediaKey(bytes: blob) ?? MediaKey(address: WebAddress("damaged \(Hexadecimal.text(blob))"))
  }

  /// Transcripts as one text; nil for none.
  static func text(_ transcripts: [Transcript]) -> String? {
    if transcripts.isEmpty { return nil }
    return JSONValue.array(
      transcripts.map { [.string($0.url.forRequest), .optional($0.type), .optional($0.language)] }
    ).compactText
  }

  private static func transcripts(_ text: String) -> [Transcript] {
    let list = (try? JSONValue(parsing: Array(text.utf8)))?.elements ?? []
    return list.compactMap { entry in
      let parts = entry.elements
      guard parts.count == 3, let url = parts[0].text else { return nil }
      return Transcript(url: WebAddress(url), type: parts[1].text, language: parts[2].text)
    }
  }
}
