internal import PodcastModel
internal import SQLiteKit

/// How an episode lies in its row.
enum EpisodeRow {
  /// For a `FROM episode e`.
  static let columns = """
    e.id, e.podcast_id, e.media_key, e.stem, e.extension, e.title, e.published, e.enclosure_url, e.guid, \
    e.is_dated, e.media_type, e.feed_length, e.duration, e.season, e.number, e.explicit, e.link, \
    e.image_url, e.transcripts, e.chapters_url, e.played, e.hidden, e.notes_length, \
    e.is_replaced
    """
  static let count = 24

  /// - Parameter first: the column where `columns` begin.
  static func read(_ row: borrowing Row, from first: Int = 0) -> Episode {
    var episode = Episode(
      id: row.int64(first), podcastID: row.int64(first + 1), mediaKey: mediaKey(row.blob(first + 2)),
      stem: row.string(first + 3), fileExtension: row.string(first + 4), title: row.string(first + 5),
      published: row.int64(first + 6), enclosureURL: WebAddress(row.string(first + 7)))
    episode.guid = row.stringIfPresent(first + 8)
    episode.isDated = row.bool(first + 9)
    episode.mediaType = row.stringIfPresent(first + 10)
    episode.feedLength = row.int64IfPresent(first + 11)
    episode.duration = row.intIfPresent(first + 12)
    episode.season = row.intIfPresent(first + 13)
    episode.episode = row.intIfPresent(first + 14)
    episode.explicit = row.boolIfPresent(first + 15)
    episode.link = row.stringIfPresent(first + 16).map { WebAddress($0) }
    episode.imageURL = row.stringIfPresent(first + 17).map { WebAddress($0) }
    episode.transcripts = row.stringIfPresent(first + 18).map(transcripts) ?? []
    episode.chaptersURL = row.stringIfPresent(first + 19).map { WebAddress($0) }
    episode.played = row.bool(first + 20)
    episode.hidden = row.bool(first + 21)
    episode.notesLength = row.int(first + 22)
    episode.isReplaced = row.bool(first + 23)
    return episode
  }

  /// A media key as the 16 bytes that its digits mean.
  static func blob(_ key: MediaKey) -> [UInt8] {
    Hexadecimal.bytes(key.text) ?? []
  }

  static func mediaKey(_ blob: [UInt8]) -> MediaKey {
    guard let key = MediaKey(Hexadecimal.text(blob)) else {
      preconditionFailure("a media key of \(blob.count) bytes")
    }
    return key
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
