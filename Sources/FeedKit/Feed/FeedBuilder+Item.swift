internal import PodcastModel

extension FeedBuilder {
  /// An element of an item, or of a `media:group` or `media:content` in it.
  func itemElement(_ kind: FeedElement, _ element: XMLElement, _ context: Context) {
    switch kind {
    case .mediaContent:
      draft.addMediaContent(element, absolute)
      if context == .mediaContent { ignore() } else { enter(.mediaContent, element) }
    case .mediaThumbnail:
      draft.setImage(element.attributeBytes("url").flatMap(absolute), rank: 1)
      ignore()
    case .mediaTitle, .mediaDescription:
      if draft.wants(kind) { capture(kind) } else { ignore() }
    case _ where context != .item:
      ignore()
    case .enclosure:
      draft.addEnclosure(element, absolute)
      ignore()
    case .atomLink:
      draft.addLink(element, absolute)
      ignore()
    case .link where element.attributeBytes("href") != nil:
      draft.addLink(element, absolute)
      ignore()
    case .link:
      let isEnclosure = element.attribute("rel")?.lowercased() == "enclosure"
      draft.linkedText =
        isEnclosure
        ? (element.attribute("type"), element.attributeBytes("length").flatMap(FeedText.wholeNumber)) : nil
      capture(kind)
    case .guid:
      guidIsPermalink = element.attribute("ispermalink")?.lowercased() != "false"
      capture(kind)
    case .itunesImage:
      draft.setImage(
        (element.attributeBytes("href") ?? element.attributeBytes("url")).flatMap(absolute), rank: 2)
      ignore()
    case .podcastTranscript:
      draft.addTranscript(element, absolute)
      ignore()
    case .podcastChapters:
      draft.episode.chaptersURL = draft.episode.chaptersURL ?? element.attributeBytes("url").flatMap(absolute)
      ignore()
    case .contentEncoded, .description, .itunesSummary, .itunesSubtitle, .atomContent, .atomSummary:
      if draft.wants(kind) { capture(kind, element, keepsMarkup: true) } else { ignore() }
    case .atomTitle:
      capture(kind, element)
    case .title, .itunesTitle, .dcTitle, .atomID, .pubDate, .date, .dcDate, .dcModified, .atomPublished,
      .atomUpdated, .itunesDuration, .itunesSeason, .podcastSeason, .itunesEpisode, .podcastEpisode,
      .itunesEpisodeType, .itunesExplicit:
      capture(kind)
    default:
      ignore()
    }
  }

  /// The text of an item's element, trimmed and not empty.
  func storeItem(_ kind: FeedElement, _ text: UnsafeBufferPointer<UInt8>) {
    switch kind {
    case .title: draft.setTitle(FeedText.title(text), rank: 5)
    case .atomTitle: draft.setTitle(plain(text), rank: 4)
    case .itunesTitle: draft.setTitle(FeedText.title(text), rank: 3)
    case .mediaTitle: draft.setTitle(FeedText.title(text), rank: 2)
    case .dcTitle: draft.setTitle(FeedText.title(text), rank: 1)
    case .guid:
      draft.setGuid(FeedText.string(text), rank: 2)
      // An address without a scheme is more often a plain number.
      if guidIsPermalink { draft.setPermalink(FeedAddress.absolute(text, base: nil).map { WebAddress($0) }) }
    case .atomID: draft.setGuid(FeedText.string(text), rank: 1)
    case .link: draft.addLinkText(text, absolute)
    case .pubDate, .atomPublished: draft.setPublished(DateText.seconds(text), rank: 3)
    case .dcDate, .date: draft.setPublished(DateText.seconds(text), rank: 2)
    case .atomUpdated, .dcModified: draft.setPublished(DateText.seconds(text), rank: 1)
    case .itunesDuration: draft.episode.duration = draft.episode.duration ?? DurationText.seconds(text)
    case .contentEncoded, .description, .itunesSummary, .itunesSubtitle, .atomContent, .atomSummary,
      .mediaDescription:
      draft.setNotes(text, kind)
    case .itunesSeason, .podcastSeason:
      draft.episode.season = draft.episode.season ?? FeedText.smallNumber(text)
    case .itunesEpisode, .podcastEpisode:
      draft.episode.episode = draft.episode.episode ?? FeedText.smallNumber(text)
    case .itunesEpisodeType: draft.episode.episodeType = FeedText.collapsed(text).lowercased()
    case .itunesExplicit: draft.episode.explicit = draft.episode.explicit ?? FeedText.explicit(text)
    default: break
    }
  }
}
