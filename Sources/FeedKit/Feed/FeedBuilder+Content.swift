internal import PodcastModel

// What the elements of a channel and of an item say.
extension FeedBuilder {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  func channelElement(_ kind: FeedElement, _ element: XMLElement) {
    switch kind {
    case .other, .contentEncoded, .atomContent: ignore()
    case .link where element.attributeBytes("href") != nil, .atomLink:
      channelLink(element)
      ignore()
    case .itunesCategory:
      addCategory(element.attribute("text"))
      // Subcategories are elements within it.
      enter(.channel, element)
    case .atomCategory:
      addCategory(element.attribute("label") ?? element.attribute("term"))
      ignore()
    case .itunesImage, .mediaThumbnail:
      state.image.offer(imageAddress(element), rank: kind == .itunesImage ? 4 : 2)
      ignore()
    default: capture(kind, element)
    }
  }

  private func channelLink(_ element: XMLElement) {
    guard let address = element.attributeBytes("href") else { return }
    switch element.attribute("rel")?.lowercased() ?? "alternate" {
    case "alternate": state.link.offer(absolute(address), rank: 1)
    case "next": state.feed.nextPageURL = state.feed.nextPageURL ?? absolute(address)
    case "self": state.feed.selfURL = state.feed.selfURL ?? absolute(address)
    default: break
    }
  }

  private func imageAddress(_ element: XMLElement) -> WebAddress? {
    (element.attributeBytes("href") ?? element.attributeBytes("url")).flatMap(absolute)
  }

  private func addCategory(_ text: String?) {
    guard let text, state.feed.categories.count < 100, !state.feed.categories.contains(text) else { return }
    state.feed.categories.append(text)
  }

  /// The text of an element, trimmed and not empty.
  func store(_ kind: FeedElement, _ text: Bytes, _ context: Context) {
    switch context {
    case .image: state.image.offer(absolute(text), rank: 3)
    case .author: state.author.offer(FeedText.title(text), rank: 1)
    default:
      let isChannel = context == .channel
      if let rank = kind.rankOfTitle {
        let title = title(kind, text)
        if isChannel { state.title.offer(title, rank: rank) } else { draft.title.offer(title, rank: rank) }
      } else if let rank = kind.rankOfNotes {
        let notes = FeedText.string(text)
        if isChannel { state.about.offer(notes, rank: rank) } else { draft.notes.offer(notes, rank: rank) }
      } else if isChannel {
        storeChannel(kind, text)
      } else {
        storeItem(kind, text)
      }
    }
  }

  /// An Atom title's type attribute says whether it holds HTML.
  private func title(_ kind: FeedElement, _ text: Bytes) -> String {
    let title = FeedText.title(text)
    return kind == .atomTitle && capturedIsHTML ? FeedText.oneLine(TitleText.plain(title)) : title
  }

  private func storeChannel(_ kind: FeedElement, _ text: Bytes) {
    switch kind {
    case .itunesAuthor: state.author.offer(FeedText.title(text), rank: 4)
    case .dcCreator: state.author.offer(FeedText.title(text), rank: 3)
    case .managingEditor: state.author.offer(FeedText.title(text), rank: 2)
    case .link: state.link.offer(absolute(text), rank: 2)
    case .atomLogo: state.image.offer(absolute(text), rank: 3)
    case .atomIcon: state.image.offer(absolute(text), rank: 1)
    case .category: addCategory(FeedText.collapsed(text))
    case .language, .dcLanguage: state.feed.language = state.feed.language ?? FeedText.collapsed(text)
    case .ttl:
      state.feed.timeToLive = state.feed.timeToLive ?? FeedText.number(text).map { Int(min($0, 1 << 31)) }
    case .itunesExplicit: state.feed.explicit = state.feed.explicit ?? FeedText.explicit(text)
    case .itunesType: state.feed.type = state.feed.type ?? FeedText.collapsed(text).lowercased()
    case .itunesNewFeedURL: state.feed.newFeedURL = state.feed.newFeedURL ?? absolute(text)
    case .itunesComplete: state.feed.isComplete = FeedText.explicit(text) ?? false
    case .podcastGuid: state.feed.guid = state.feed.guid ?? FeedText.collapsed(text)
    case .podcastPerson: addPerson(text, to: &state.feed.people)
    default: break
    }
  }

  private func addPerson(_ text: Bytes, to people: inout [String]) {
    let name = FeedText.title(text)
    if people.count < 50, !people.contains(name) { people.append(name) }
  }

  /// An element of an item, or of a `media:group` or `media:content` in it.
  func itemElement(_ kind: FeedElement, _ element: XMLElement, _ context: Context) {
    switch kind {
    case .mediaContent:
      draft.addMediaContent(element, absolute)
      if context == .mediaContent { ignore() } else { enter(.mediaContent, element) }
    case .mediaThumbnail:
      draft.image.offer(imageAddress(element), rank: 1)
      ignore()
    case .mediaTitle: capture(kind)
    case _ where kind.rankOfNotes.map { $0 <= draft.notes.rank } ?? false: ignore()
    case .mediaDescription: capture(kind)
    case _ where context != .item, .other: ignore()
    case .enclosure:
      draft.addFile(.enclosure, element, "url", absolute)
      ignore()
    case .link where element.attributeBytes("href") != nil, .atomLink:
      draft.addLink(element, absolute)
      ignore()
    case .link:
      draft.beginLink(element)
      capture(kind)
    case .guid:
      state.guidIsPermalink = element.attribute("ispermalink")?.lowercased() != "false"
      capture(kind)
    case .itunesImage:
      draft.image.offer(imageAddress(element), rank: 2)
      ignore()
    case .podcastTranscript:
      draft.addTranscript(element, absolute)
      ignore()
    case .podcastChapters:
      let address = draft.episode.chaptersURL ?? element.attributeBytes("url").flatMap(absolute)
      draft.episode.chaptersURL = address
      ignore()
    default: capture(kind, element, keepsMarkup: kind.rankOfNotes != nil)
    }
  }

  private func storeItem(_ kind: FeedElement, _ text: Bytes) {
    switch kind {
    case .guid:
      draft.guid.offer(FeedText.string(text), rank: 3)
      // An address without a scheme is more often a plain number.
      if state.guidIsPermalink, draft.permalink == nil {
        draft.permalink = FeedAddress.absolute(text)
      }
    case .atomID: draft.guid.offer(FeedText.string(text), rank: 2)
    case .link: draft.endLink(text, absolute)
    case .pubDate, .atomPublished: draft.published.offer(DateText.seconds(text), rank: 3)
    case .dcDate, .date: draft.published.offer(DateText.seconds(text), rank: 2)
    case .atomUpdated, .dcModified: draft.published.offer(DateText.seconds(text), rank: 1)
    case .itunesDuration:
      draft.episode.duration = draft.episode.duration ?? DurationText.seconds(text)
    case .itunesSeason, .podcastSeason:
      draft.episode.season = draft.episode.season ?? FeedText.smallNumber(text)
    case .itunesEpisode, .podcastEpisode:
      draft.episode.episode = draft.episode.episode ?? FeedText.smallNumber(text)
    case .podcastPerson: addPerson(text, to: &draft.episode.people)
    case .itunesEpisodeType: draft.episode.episodeType = FeedText.collapsed(text).lowercased()
    case .itunesExplicit:
      draft.episode.explicit = draft.episode.explicit ?? FeedText.explicit(text)
    default: break
    }
  }
}
