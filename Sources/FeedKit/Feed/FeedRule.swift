internal import PodcastModel

/// Where an element stands, as far as that decides what it means.
enum FeedContext: Hashable {
  case document, root, channel, item, image, author, media, chapters, alternateEnclosure
}

/// What an element of a feed means.
enum FeedRule: Sendable {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Neither it nor anything in it means something.
  case ignore
  case enter(FeedContext)
  /// Of several titles the one of the highest rank counts.
  case title(rank: Int)
  /// The same for texts that may be show notes or a description.
  case notes(rank: Int)
  /// Gets the element's text, trimmed; there is no call for an empty one.
  case text(@Sendable (FeedBuilder, Bytes) -> Void)
  /// Reads the attributes, and decides what the content means.
  case element(@Sendable (FeedBuilder, XMLElement) -> FeedRule)

  /// The title of an image is not the channel's, and an item within a live item is none: the context decides.
  /// - Parameter name: in lower case, behind the usual prefix of its namespace (see `FeedVocabulary`).
  static func of(_ name: String, in context: FeedContext) -> FeedRule {
    switch (context, name) {
    case (.document, "rss"), (.document, "rdf:rdf"), (.document, "rdf"): .enter(.root)
    case (.document, "atom:feed"), (.document, "channel"), (.root, "channel"): .enter(.channel)
    case (.root, "item"), (.channel, "item"), (.channel, "atom:entry"): .enter(.item)
    case (.root, "image"), (.channel, "image"): .enter(.image)
    case (.channel, "atom:author"): .enter(.author)
    case (.image, "url"): image(rank: 3)
    case (.author, "atom:name"): author(rank: 1)
    case (.item, "media:group"): .enter(.media)
    case (.item, "psc:chapters"): .enter(.chapters)
    case (.chapters, "psc:chapter"): attributes { $0.addChapter($1) }
    case (.alternateEnclosure, "podcast:source"): attributes { $0.addSource($1) }
    case (.channel, _): ofChannel(name)
    case (.item, _): ofItem(name)
    case (.media, _): name.hasPrefix("media:") ? ofItem(name) : .ignore
    default: .ignore
    }
  }

  private static func ofChannel(_ name: String) -> FeedRule {
    switch name {
    case "link", "atom:link": .element { $0.channelLink($1) }
    case "itunes:author": author(rank: 4)
    case "dc:creator": author(rank: 3)
    case "managingeditor": author(rank: 2)
    case "atom:logo": image(rank: 3)
    case "atom:icon": image(rank: 1)
    case "category": .text { $0.addCategory(FeedText.collapsed($1)) }
    case "atom:category": attributes { $0.addCategory($1.attribute("label") ?? $1.attribute("term")) }
    case "itunes:category":
      .element { builder, element in
        builder.addCategory(element.attribute("text"))
        // Subcategories are elements within it.
        return .enter(.channel)
      }
    case "language", "dc:language": first(\.state.feed.language, FeedText.collapsed)
    case "ttl": first(\.state.feed.timeToLive) { FeedText.number($0).map { Int(min($0, 1 << 31)) } }
    case "itunes:type": first(\.state.feed.type) { FeedText.collapsed($0).lowercased() }
    case "itunes:new-feed-url":
      .text { $0.state.feed.newFeedURL = $0.state.feed.newFeedURL ?? $0.absolute($1) }
    case "itunes:complete": .text { $0.state.feed.isComplete = FeedText.explicit($1) ?? false }
    case "podcast:guid": first(\.state.feed.guid, FeedText.collapsed)
    default: ofBoth(name)
    }
  }

  private static func ofItem(_ name: String) -> FeedRule {
    switch name {
    case "enclosure": attributes { $0.addFile(.enclosure, $1, "url") }
    case "link", "atom:link": .element { $0.itemLink($1) }
    case "media:content":
      .element { builder, element in
        builder.addMediaContent(element)
        return .enter(.media)
      }
    case "podcast:alternateenclosure":
      .element { builder, element in
        builder.draft.described = FileDescription(element)
        return .enter(.alternateEnclosure)
      }
    case "content:encoded", "atom:content": .notes(rank: 5)
    case "guid":
      .element { builder, element in
        // RSS 2.0: a guid is the address of the item's page, unless the attribute says that it is none.
        let isPermalink = element.attribute("ispermalink")?.lowercased() != "false"
        return .text { builder, text in
          builder.draft.guid.offer(FeedText.string(text), rank: 3)
          // An address without a scheme is more often a plain number.
          if isPermalink { builder.draft.facts.link.offer(FeedAddress.absolute(text), rank: 1) }
        }
      }
    case "id", "atom:id": .text { $0.draft.guid.offer(FeedText.string($1), rank: 2) }
    case "pubdate", "atom:published", "atom:issued": published(rank: 3)
    case "date", "dc:date", "dc:created", "dc:issued", "dc:available": published(rank: 2)
    case "atom:updated", "atom:modified", "atom:created", "dc:modified": published(rank: 1)
    case "itunes:duration": first(\.draft.episode.duration, DurationText.seconds)
    case "itunes:season", "podcast:season": first(\.draft.episode.season, FeedText.smallNumber)
    case "itunes:episode", "podcast:episode": first(\.draft.episode.episode, FeedText.smallNumber)
    case "itunes:episodetype": .text { $0.draft.episode.episodeType = FeedText.collapsed($1).lowercased() }
    case "podcast:transcript": attributes { $0.addTranscript($1) }
    case "podcast:chapters":
      attributes { $0.draft.episode.chaptersURL = $0.draft.episode.chaptersURL ?? $0.address($1, "url") }
    default: ofBoth(name)
    }
  }

  private static func ofBoth(_ name: String) -> FeedRule {
    switch name {
    case "title": .title(rank: 5)
    case "atom:title": .title(rank: 4)
    case "itunes:title": .title(rank: 3)
    case "media:title": .title(rank: 2)
    case "dc:title": .title(rank: 1)
    case "description", "atom:summary": .notes(rank: 4)
    case "itunes:summary", "itunes:description": .notes(rank: 3)
    case "media:description", "atom:subtitle", "atom:tagline": .notes(rank: 2)
    case "itunes:subtitle": .notes(rank: 1)
    case "itunes:image": imageElement(rank: 4)
    case "media:thumbnail": imageElement(rank: 2)
    case "itunes:explicit":
      .text { builder, text in builder.note { $0.explicit = $0.explicit ?? FeedText.explicit(text) } }
    case "podcast:person": .text { builder, text in builder.note { $0.addPerson(FeedText.title(text)) } }
    default: .ignore
    }
  }
}

// Rules that several elements have.
extension FeedRule {
  private static func attributes(_ read: @escaping @Sendable (FeedBuilder, XMLElement) -> Void) -> FeedRule {
    .element { builder, element in
      read(builder, element)
      return .ignore
    }
  }

  private static func author(rank: Int) -> FeedRule {
    .text { $0.state.channel.author.offer(FeedText.title($1), rank: rank) }
  }

  private static func image(rank: Int) -> FeedRule {
    .text { $0.state.channel.image.offer($0.absolute($1), rank: rank) }
  }

  private static func imageElement(rank: Int) -> FeedRule {
    attributes { builder, element in
      let address = builder.address(element, "href") ?? builder.address(element, "url")
      builder.note { $0.image.offer(address, rank: rank) }
    }
  }

  private static func published(rank: Int) -> FeedRule {
    .text { $0.draft.published.offer(DateText.seconds($1), rank: rank) }
  }

  /// Of several elements for the same the first one counts that can be read.
  private static func first<Value>(
    _ path: any ReferenceWritableKeyPath<FeedBuilder, Value?> & Sendable,
    _ read: @escaping @Sendable (Bytes) -> Value?
  ) -> FeedRule { .text { if $0[keyPath: path] == nil { $0[keyPath: path] = read($1) } } }
}
