internal import PodcastModel

struct EpisodeDraft {
  typealias Bytes = UnsafeBufferPointer<UInt8>
  typealias Enclosure = ParsedEpisode.Enclosure

  /// What names a file, the best first.
  enum FileKind: CaseIterable { case enclosure, link, mediaContent, alternate }

  var episode: ParsedEpisode
  var title = Ranked<String>()
  var guid = Ranked<String>()
  var published = Ranked<Int64>()
  var image = Ranked<WebAddress>()
  var notes = Ranked<String>()
  /// RSS 2.0: a guid is an address of the item's page, unless `isPermaLink` says that it is none.
  var permalink: WebAddress?
  private var chapters: [ChapterList.Chapter] = []
  private var files: [(kind: FileKind, file: Enclosure)] = []
  /// The type and length of the file that the text, or an element, of the open element names; nil where it names none.
  private var described: (type: String?, length: Int64?)?
  /// Why a file of the item was left out.
  private var leftOut: String?
  private static let most = 50

  init(index: Int) { episode = ParsedEpisode(index: index) }

  consuming func finish(_ warnings: inout FeedWarnings) -> ParsedEpisode? {
    let found = enclosures
    guard !found.isEmpty else {
      warnings.add(leftOut ?? "an item has no enclosure")
      return nil
    }
    (episode.title, episode.guid, episode.published) = (title.value, guid.value, published.value)
    (episode.imageURL, episode.notes, episode.enclosures) = (image.value, notes.value, found)
    episode.link = episode.link ?? permalink
    if !chapters.isEmpty { episode.chapters = ChapterList(chapters).text }
    return episode
  }

  /// All files of the first kind that there is. If none of them is audio or video, those of the next kind that has audio or
  /// video are appended.
  private var enclosures: [Enclosure] {
    if files.count == 1 { return [files[0].file] }
    let kinds = FileKind.allCases.map { kind in files.filter { $0.kind == kind }.map(\.file) }
    guard let first = kinds.first(where: { !$0.isEmpty }) else { return [] }
    let playable = kinds.first { $0.contains { MediaType.isAudioOrVideo(type: $0.type, url: $0.url) } }
    return if let playable, playable != first { first + playable } else { first }
  }

  /// - Parameters:
  ///   - address: as the feed writes it.
  ///   - absolute: makes an address absolute.
  mutating func addFile(
    _ kind: FileKind, _ address: Bytes?, type: String?, length: Int64?, _ absolute: (Bytes) -> WebAddress?
  ) {
    guard let trimmed = address.map(FeedText.trimmed), !trimmed.isEmpty, files.count < Self.most else {
      return
    }
    guard let url = absolute(trimmed) else { return leftOut = "an enclosure has no usable address" }
    if MediaType.isPlaylist(type: type, url: url) {
      return leftOut = "an item has only a stream or playlist (HLS), which is not a file: left out"
    }
    let address = WebAddress(FeedText.string(trimmed))
    files.append((kind, Enclosure(url: url, type: type, length: length, address: address)))
  }

  mutating func addFile(
    _ kind: FileKind, _ element: XMLElement, _ name: StaticString, length: StaticString = "length",
    _ absolute: (Bytes) -> WebAddress?
  ) {
    addFile(
      kind, element.attributeBytes(name), type: element.attribute("type"),
      length: element.attributeBytes(length).flatMap(FeedText.wholeNumber), absolute)
  }

  mutating func addMediaContent(_ element: XMLElement, _ absolute: (Bytes) -> WebAddress?) {
    guard let address = element.attributeBytes("url") else { return }
    let medium = element.attribute("medium")?.lowercased()
    if medium == "image" { return image.offer(absolute(address), rank: 1) }
    let url = WebAddress(FeedText.string(FeedText.trimmed(address)))
    guard
      ["audio", "video"].contains(medium)
        || MediaType.isAudioOrVideo(type: element.attribute("type"), url: url)
    else { return }
    addFile(.mediaContent, element, "url", length: "filesize", absolute)
    episode.duration = episode.duration ?? element.attributeBytes("duration").flatMap(DurationText.seconds)
  }

  /// `atom:link`, also where it has no namespace.
  mutating func addLink(_ element: XMLElement, _ absolute: (Bytes) -> WebAddress?) {
    switch element.attribute("rel")?.lowercased() ?? "alternate" {
    case "enclosure": addFile(.link, element, "href", absolute)
    case "alternate": episode.link = episode.link ?? element.attributeBytes("href").flatMap(absolute)
    default: break
    }
  }

  mutating func describeFile(_ element: XMLElement) {
    described = (
      element.attribute("type"), element.attributeBytes("length").flatMap(FeedText.wholeNumber)
    )
  }

  /// `podcast:source`: of other schemes (IPFS, torrents) we know nothing.
  mutating func addSource(_ element: XMLElement) {
    guard let address = element.attributeBytes("uri"), FeedAddress.absolute(address) != nil else { return }
    addFile(.alternate, address, type: described?.type, length: described?.length) {
      FeedAddress.absolute($0)
    }
  }

  /// A link whose address is its text.
  mutating func beginLink(_ element: XMLElement) {
    described = nil
    if element.attribute("rel")?.lowercased() == "enclosure" { describeFile(element) }
  }

  mutating func endLink(_ address: Bytes, _ absolute: (Bytes) -> WebAddress?) {
    if let (type, length) = described {
      addFile(.link, address, type: type, length: length, absolute)
    } else {
      episode.link = episode.link ?? absolute(address)
    }
  }

  mutating func addChapter(_ element: XMLElement, _ absolute: (Bytes) -> WebAddress?) {
    guard chapters.count < ChapterList.limit,
      let start = element.attribute("start").flatMap(PositionText.milliseconds)
    else { return }
    let title = element.attributeBytes("title").map(FeedText.title)
    chapters.append(.init(start: start, title: title, link: element.attributeBytes("href").flatMap(absolute)))
  }

  mutating func addTranscript(_ element: XMLElement, _ absolute: (Bytes) -> WebAddress?) {
    guard episode.transcripts.count < Self.most, let url = element.attributeBytes("url").flatMap(absolute)
    else { return }
    let type = element.attribute("type").map(MediaType.essence)
    episode.transcripts.append(Transcript(url: url, type: type, language: element.attribute("language")))
  }
}
