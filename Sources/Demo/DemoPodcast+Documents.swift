internal import PodcastModel

// What the server gives for a podcast beside audio and cover.
extension DemoPodcast {
  /// RSS 2.0 with iTunes and Podcasting 2.0 elements.
  func feed(at address: String) -> String {
    let items = episodes.indices.reversed().map { item($0 + 1, at: address) }.joined()
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" \
      xmlns:podcast="https://podcastindex.org/namespace/1.0">
      <channel>
      <title>\(title.inXML)</title>
      <link>\(address)/</link>
      <description>\(description.inXML)</description>
      <language>en</language>
      <itunes:author>\(author.inXML)</itunes:author>
      <itunes:image href="\(address)\(coverPath)"/>
      <itunes:category text="Music"/>
      <itunes:explicit>false</itunes:explicit>
      \(items)</channel>
      </rss>

      """
  }

  private func item(_ number: Int, at address: String) -> String {
    let episode = episodes[number - 1]
    var text = """
      <item>
      <title>\(episode.title.inXML)</title>
      <guid isPermaLink="false">podcastfs-demo-\(key)-\(number)</guid>
      <pubDate>\(CivilTime.http(episode.published))</pubDate>
      <description>\(episode.notes.inXML)</description>
      <itunes:duration>\(episode.duration)</itunes:duration>
      <itunes:episode>\(number)</itunes:episode>
      <enclosure url="\(address)\(audioPath(number))" length="\(DemoMedia.size(audioFile(number)))" \
      type="audio/mpeg"/>

      """
    if !episode.transcript.isEmpty {
      text += "<podcast:transcript url=\"\(address)\(transcriptPath(number))\" type=\"text/vtt\"/>\n"
    }
    if !episode.chapters.isEmpty {
      text +=
        "<podcast:chapters url=\"\(address)\(chaptersPath(number))\" type=\"application/json+chapters\"/>\n"
    }
    return text + "</item>\n"
  }

  func transcript(_ number: Int) -> String {
    "WEBVTT\n"
      + episodes[number - 1].transcript.map { cue in
        "\n\(Self.clock(cue.from)) --> \(Self.clock(cue.to))\n\(cue.text)\n"
      }.joined()
  }

  private static func clock(_ seconds: Int) -> String {
    let second = String(seconds % 60)
    return "00:0\(seconds / 60):" + (second.count < 2 ? "0" : "") + second + ".000"
  }

  /// JSON Chapters 1.2 (Podcasting 2.0).
  func chapters(_ number: Int) -> String {
    let chapters = episodes[number - 1].chapters.map { chapter in
      JSONValue.object([("startTime", .integer(Int64(chapter.start))), ("title", .string(chapter.title))])
    }
    return JSONValue.object([("version", "1.2.0"), ("chapters", .array(chapters))]).indentedText + "\n"
  }

  /// A result as Apple's search service gives it.
  func result(at address: String) -> JSONValue {
    .object([
      ("wrapperType", "track"), ("kind", "podcast"), ("collectionId", .integer(id)),
      ("trackId", .integer(id)),
      ("artistName", .string(author)), ("collectionName", .string(title)), ("trackName", .string(title)),
      ("feedUrl", .string(address + feedPath)), ("artworkUrl600", .string(address + coverPath)),
      ("releaseDate", .string(CivilTime.iso8601(episodes.map(\.published).max() ?? 0))),
      ("collectionExplicitness", "notExplicit"), ("trackCount", .integer(Int64(episodes.count))),
      ("country", "USA"), ("primaryGenreName", "Music"), ("genres", ["Music", "Podcasts"]),
    ])
  }
}

extension String {
  fileprivate var inXML: String { XMLText.escaped(self, keepsLines: true) }
}
