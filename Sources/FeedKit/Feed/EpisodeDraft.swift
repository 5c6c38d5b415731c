internal import PodcastModel

/// An item while its elements come.
struct EpisodeDraft {
  var episode: ParsedEpisode
  /// `rdf:about` (RSS 1.0): stands for the guid where there is none.
  var about: String?
  private var titleRank = 0
  private var guidRank = 0
  private var dateRank = 0
  private var imageRank = 0
  private var notesRank = 0
  private var notes: [UInt8] = []
  /// The same thing in several forms: only the first kind that has any counts.
  private var enclosures: [ParsedEpisode.Enclosure] = []
  private var mediaContents: [ParsedEpisode.Enclosure] = []
  private var linked: [ParsedEpisode.Enclosure] = []
  private var alternates: [ParsedEpisode.Enclosure] = []
  private var alternate: (type: String?, length: Int64?) = (nil, nil)
  private var hasUnusable = false

  init(index: Int) { episode = ParsedEpisode(index: index) }

  /// Another item begins. The room for its notes is used again.
  mutating func begin(index: Int) {
    var room = notes
    notes = []
    room.removeAll(keepingCapacity: true)
    self = EpisodeDraft(index: index)
    notes = room
  }

  /// The episode, which is taken out; nil for an item with nothing to play.
  mutating func finish(_ warnings: inout FeedWarnings, _ spool: inout TextSpool) -> ParsedEpisode? {
    guard let found = firstKind else {
      warnings.add(hasUnusable ? "an enclosure has no usable address" : "an item has no enclosure")
      return nil
    }
    var result = ParsedEpisode(index: 0)
    swap(&result, &episode)
    result.enclosures = found
    if found[0].type?.utf8.starts(with: "audio/".utf8) != true, let file = result.enclosure,
      MediaType.isOther(type: file.type, url: file.url)
    {
      warnings.add("an enclosure is neither audio nor video: *\(result.fileExtension)")
    }
    if !notes.isEmpty { result.spooledNotes = notes.withUnsafeBufferPointer { spool.store($0) } }
    if result.guid == nil { result.guid = about }
    return result
  }

  private var firstKind: [ParsedEpisode.Enclosure]? {
    if !enclosures.isEmpty { return enclosures }
    if !linked.isEmpty { return linked }
    if !mediaContents.isEmpty { return mediaContents }
    return alternates.isEmpty ? nil : alternates
  }

  mutating func setTitle(_ title: String, rank: Int) {
    if rank > titleRank { (episode.title, titleRank) = (title, rank) }
  }

  mutating func setGuid(_ guid: String, rank: Int) {
    if rank > guidRank { (episode.guid, guidRank) = (guid, rank) }
  }

  mutating func setPublished(_ date: Int64?, rank: Int) {
    if rank > dateRank, let date { (episode.published, dateRank) = (date, rank) }
  }

  mutating func setImage(_ address: WebAddress?, rank: Int) {
    if rank > imageRank, let address { (episode.imageURL, imageRank) = (address, rank) }
  }

  /// Whether a text would replace the one that is there.
  func wants(_ kind: FeedElement) -> Bool { kind == .mediaTitle || Self.rank(ofNotes: kind) > notesRank }

  /// Whole notes are kept only at the item's end: most items have several.
  mutating func setNotes(_ notes: UnsafeBufferPointer<UInt8>, _ kind: FeedElement) {
    let rank = Self.rank(ofNotes: kind)
    guard rank > notesRank else { return }
    notesRank = rank
    self.notes.removeAll(keepingCapacity: true)
    self.notes.append(contentsOf: notes)
  }

  private static func rank(ofNotes kind: FeedElement) -> Int {
    switch kind {
    case .contentEncoded, .atomContent: 5
    case .description, .atomSummary: 4
    case .itunesSummary: 3
    case .mediaDescription: 2
    default: 1
    }
  }
}

/// What an item says about its files.
extension EpisodeDraft {
  typealias Bytes = UnsafeBufferPointer<UInt8>
  typealias Resolver = (Bytes) -> WebAddress?

  private static let most = 50

  mutating func addEnclosure(_ element: XMLElement, _ absolute: Resolver) {
    let found = enclosure(
      element.attributeBytes("url"), element.attribute("type"), element.attributeBytes("length"), absolute)
    if let found, enclosures.count < Self.most { enclosures.append(found) }
  }

  mutating func addMediaContent(_ element: XMLElement, _ absolute: Resolver) {
    guard let address = element.attributeBytes("url") else { return }
    let type = element.attribute("type")
    let medium = element.attribute("medium")?.lowercased()
    if medium == "image" {
      if let url = absolute(address) { setImage(url, rank: 1) }
      return
    }
    guard
      medium == "audio" || medium == "video"
        || MediaType.isAudioOrVideo(type: type, url: WebAddress(FeedText.string(FeedText.trimmed(address))))
    else {
      return
    }
    let found = enclosure(address, type, element.attributeBytes("filesize"), absolute)
    if let found, mediaContents.count < Self.most { mediaContents.append(found) }
    if episode.duration == nil, let duration = element.attributeBytes("duration") {
      episode.duration = DurationText.seconds(duration)
    }
  }

  /// `atom:link`, also where it has no namespace.
  mutating func addLink(_ element: XMLElement, _ absolute: Resolver) {
    let address = element.attributeBytes("href")
    switch element.attribute("rel")?.lowercased() ?? "alternate" {
    case "enclosure":
      let found = enclosure(address, element.attribute("type"), element.attributeBytes("length"), absolute)
      if let found, linked.count < Self.most { linked.append(found) }
    case "alternate":
      episode.link = episode.link ?? address.flatMap(absolute)
    default: break
    }
  }

  mutating func beginAlternate(_ element: XMLElement) {
    alternate = (element.attribute("type"), element.attributeBytes("length").flatMap(FeedText.wholeNumber))
  }

  /// `podcast:source`: of other schemes (IPFS, torrents) we know nothing.
  mutating func addAlternateSource(_ element: XMLElement) {
    guard alternates.count < Self.most, let address = element.attributeBytes("uri") else { return }
    guard let url = FeedAddress.absolute(address, base: nil) else { return }
    alternates.append(
      ParsedEpisode.Enclosure(
        url: WebAddress(url), type: alternate.type, length: alternate.length,
        address: WebAddress(FeedText.string(FeedText.trimmed(address)))))
  }

  mutating func addTranscript(_ element: XMLElement, _ absolute: Resolver) {
    guard episode.transcripts.count < Self.most, let url = element.attributeBytes("url").flatMap(absolute)
    else {
      return
    }
    let type = element.attribute("type").map(MediaType.essence)
    episode.transcripts.append(Transcript(url: url, type: type, language: element.attribute("language")))
  }

  private mutating func enclosure(
    _ address: Bytes?, _ type: String?, _ length: Bytes?, _ absolute: Resolver
  ) -> ParsedEpisode.Enclosure? {
    guard let trimmed = address.map(FeedText.trimmed), !trimmed.isEmpty else { return nil }
    guard let url = absolute(trimmed) else {
      hasUnusable = true
      return nil
    }
    let isSame = FeedText.isSame(url.forRequest, trimmed)
    return ParsedEpisode.Enclosure(
      url: url, type: type, length: length.flatMap(FeedText.wholeNumber),
      address: isSame ? url : WebAddress(FeedText.string(trimmed)))
  }
}
