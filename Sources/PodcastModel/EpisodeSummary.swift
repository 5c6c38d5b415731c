/// What a directory shows of an episode: its file, and those beside it. All else of an episode is read when somebody asks
/// for it.
package struct EpisodeSummary: Hashable, Sendable {
  package var id: Int64
  package var podcastID: Int64
  package var mediaKey: MediaKey
  package var stem: String
  package var fileExtension: String
  /// The time of modification, in seconds since 1970.
  package var modified: Int64
  package var mediaType: String?
  package var feedLength: Int64?
  package var duration: Int?
  package var notesLength: Int
  package var transcripts: [Transcript]
  package var chaptersURL: WebAddress?
  package var hidden: Bool
  package var played: Bool
  /// Seconds since 1970.
  package var published: Int64
  package var season: Int?
  /// Whether the listener is behind its start.
  package var isBegun: Bool

  package init(
    id: Int64, podcastID: Int64, mediaKey: MediaKey, stem: String, fileExtension: String, modified: Int64,
    mediaType: String?, feedLength: Int64?, duration: Int?, notesLength: Int, transcripts: [Transcript],
    chaptersURL: WebAddress?, hidden: Bool, played: Bool, published: Int64, season: Int?, isBegun: Bool
  ) {
    self.id = id
    self.podcastID = podcastID
    self.mediaKey = mediaKey
    self.stem = stem
    self.fileExtension = fileExtension
    self.modified = modified
    self.mediaType = mediaType
    self.feedLength = feedLength
    self.duration = duration
    self.notesLength = notesLength
    self.transcripts = transcripts
    self.chaptersURL = chaptersURL
    self.hidden = hidden
    self.played = played
    self.published = published
    self.season = season
    self.isBegun = isBegun
  }

  /// The file's name in its podcast's directory.
  package var fileName: String { stem + fileExtension }
}

extension Episode {
  package var summary: EpisodeSummary {
    EpisodeSummary(
      id: id, podcastID: podcastID, mediaKey: mediaKey, stem: stem, fileExtension: fileExtension,
      modified: modified, mediaType: mediaType, feedLength: feedLength, duration: duration,
      notesLength: notesLength, transcripts: transcripts, chaptersURL: chaptersURL, hidden: hidden,
      played: played, published: published, season: season, isBegun: listening.position > 0)
  }
}
