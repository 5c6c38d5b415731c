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
  /// The same thing in several forms.
  private var enclosures: [ParsedEpisode.Enclosure] = []
  private var mediaContents: [ParsedEpisode.Enclosure] = []
  private var linked: [ParsedEpisode.Enclosure] = []
  private var alternates: [ParsedEpisode.Enclosure] = []
  private var alternate: (type: String?, length: Int64?) = (nil, nil)
  /// `<link rel="enclosure">` whose text is the address: what its attributes say.
  var linkedText: (type: String?, length: Int64?)?
  /// A guid that is an address, which is the item's page where no other is named.
  private var permalink: WebAddress?
  /// Why an enclosure of the item was left out.
  private var leftOut: String?

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
  mutating func finish(_ warnings: inout FeedWarnings) -> ParsedEpisode? {
    let found = candidates
    guard !found.isEmpty else {
      warnings.add(leftOut ?? "an item has no enclosure")
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
    if !notes.isEmpty { result.notes = String(decoding: notes, as: UTF8.self) }
    if result.guid == nil { result.guid = about }
    if result.link == nil { result.link = permalink }
    return result
  }

  /// All links of the first kind that exists: `enclosure`, Atom's links, `media:content`, `podcast:alternateEnclosure`.
  /// If none of them is audio or video, the links of the next kind that has audio or video are appended.
  private var candidates: [ParsedEpisode.Enclosure] {
    if let first = enclosures.first, enclosures.count == 1, Self.isPlayable(first) { return enclosures }
    let kinds = [enclosures, linked, mediaContents, alternates].filter { !$0.isEmpty }
    guard let first = kinds.first else { return [] }
    let playable = kinds.first { $0.contains(where: Self.isPlayable) } ?? first
    return playable == first ? first : first + playable
  }

  private static func isPlayable(_ enclosure: ParsedEpisode.Enclosure) -> Bool {
    MediaType.isAudioOrVideo(type: enclosure.type, url: enclosure.url)
  }

  mutating func setTitle(_ title: String, rank: Int) {
    if rank > titleRank { (episode.title, titleRank) = (title, rank) }
  }

  mutating func setGuid(_ guid: String, rank: Int) {
    if rank > guidRank { (episode.guid, guidRank) = (guid, rank) }
  }

  /// RSS 2.0: a guid is a permanent address unless `isPermaLink` says that it is none.
  var namesPage: Bool { (episode.link ?? permalink) != nil }

  mutating func setPermalink(_ address: WebAddress?) { permalink = permalink ?? address }

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

  /// The text of a link element.
  mutating func addLinkText(_ text: Bytes, _ absolute: Resolver) {
    guard let attributes = linkedText else {
      episode.link = episode.link ?? absolute(text)
      return
    }
    linkedText = nil
    let found = enclosure(text, attributes.type, nil, absolute)
    if var found, linked.count < Self.most {
      found.length = attributes.length
      linked.append(found)
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
      leftOut = "an enclosure has no usable address"
      return nil
    }
    if MediaType.isPlaylist(type: type, url: url) {
      leftOut = "an item has only a stream or playlist (HLS), which is no file: left out"
      return nil
    }
    let isSame = FeedText.isSame(url.forRequest, trimmed)
    return ParsedEpisode.Enclosure(
      url: url, type: type, length: length.flatMap(FeedText.wholeNumber),
      address: isSame ? url : WebAddress(FeedText.string(trimmed)))
  }
}
