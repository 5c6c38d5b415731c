internal import PodcastModel

// Elements that say more than one thing.
extension FeedBuilder {
  func channelLink(_ element: XMLElement) -> FeedRule {
    guard let address = element.attributeBytes("href") else {
      return .text { $0.state.channel.link.offer($0.absolute($1), rank: 3) }
    }
    switch element.attribute("rel")?.lowercased() ?? "alternate" {
    case "alternate": state.channel.link.offer(absolute(address), rank: 2)
    case "next": state.feed.nextPageURL = state.feed.nextPageURL ?? absolute(address)
    case "self": state.feed.selfURL = state.feed.selfURL ?? absolute(address)
    default: break
    }
    return .ignore
  }

  func addCategory(_ text: String?) {
    guard let text, state.feed.categories.count < 100, !state.feed.categories.contains(text) else { return }
    state.feed.categories.append(text)
  }

  /// A link of RSS, whose text is the address, or of Atom, whose attribute is it.
  func itemLink(_ element: XMLElement) -> FeedRule {
    let relation = element.attribute("rel")?.lowercased() ?? "alternate"
    if element.attributeBytes("href") != nil {
      if relation == "enclosure" { addFile(.link, element, "href") }
      if relation == "alternate" { draft.facts.link.offer(address(element, "href"), rank: 2) }
      return .ignore
    }
    guard relation == "enclosure" else {
      return .text { $0.draft.facts.link.offer($0.absolute($1), rank: 3) }
    }
    let file = FileDescription(element)
    return .text { $0.addFile(.link, $1, file) }
  }

  func addFile(_ kind: EpisodeDraft.FileKind, _ element: XMLElement, _ attribute: StaticString) {
    guard let address = element.attributeBytes(attribute) else { return }
    addFile(kind, address, FileDescription(element))
  }

  func addFile(_ kind: EpisodeDraft.FileKind, _ address: Bytes, _ file: FileDescription) {
    let trimmed = FeedText.trimmed(address)
    if trimmed.isEmpty || draft.files.count >= EpisodeDraft.most { return }
    guard let url = absolute(trimmed) else { return draft.leftOut = "an enclosure has no usable address" }
    if MediaType.isPlaylist(type: file.type, url: url) {
      return draft.leftOut = "an item has only a stream or playlist (HLS), which is not a file: left out"
    }
    let written = WebAddress(FeedText.string(trimmed))
    draft.files.append((kind, .init(url: url, type: file.type, length: file.length, address: written)))
  }

  func addMediaContent(_ element: XMLElement) {
    guard let address = element.attributeBytes("url") else { return }
    let medium = element.attribute("medium")?.lowercased()
    if medium == "image" { return draft.facts.image.offer(absolute(address), rank: 2) }
    let file = FileDescription(element, length: "filesize")
    let url = WebAddress(FeedText.string(FeedText.trimmed(address)))
    guard ["audio", "video"].contains(medium) || MediaType.isAudioOrVideo(type: file.type, url: url) else {
      return
    }
    addFile(.mediaContent, address, file)
    let duration = element.attributeBytes("duration").flatMap(DurationText.seconds)
    draft.episode.duration = draft.episode.duration ?? duration
  }

  /// `podcast:source`: of other schemes (IPFS, torrents) we know nothing.
  func addSource(_ element: XMLElement) {
    guard let address = element.attributeBytes("uri"), FeedAddress.absolute(address) != nil,
      let file = draft.described
    else { return }
    addFile(.alternate, address, file)
  }

  func addChapter(_ element: XMLElement) {
    guard draft.chapters.count < ChapterList.limit,
      let start = element.attribute("start").flatMap(PositionText.milliseconds)
    else { return }
    let title = element.attributeBytes("title").map(FeedText.title)
    draft.chapters.append(.init(start: start, title: title, link: address(element, "href")))
  }

  func addTranscript(_ element: XMLElement) {
    guard draft.episode.transcripts.count < EpisodeDraft.most, let url = address(element, "url") else {
      return
    }
    let type = element.attribute("type").map(MediaType.essence)
    draft.episode.transcripts.append(
      Transcript(url: url, type: type, language: element.attribute("language")))
  }
}
