internal import PodcastModel

extension FeedBuilder {
  /// An element directly under the channel.
  func channelElement(_ kind: FeedElement, _ element: XMLElement) {
    switch kind {
    case .link where element.attributeBytes("href") != nil:
      channelLink(element)
      ignore()
    case .title, .dcTitle, .description, .language, .managingEditor, .ttl, .category, .link,
      .itunesTitle, .itunesAuthor, .itunesSummary, .itunesSubtitle, .itunesExplicit, .itunesType,
      .itunesNewFeedURL, .itunesComplete, .podcastGuid, .creator, .dcLanguage, .atomLogo,
      .atomIcon:
      capture(kind)
    case .atomTitle, .atomSubtitle:
      capture(kind, element)
    case .itunesCategory:
      if let text = element.attribute("text") { addCategory(text) }
      // Subcategories are elements within it.
      enter(.channel, element)
    case .itunesImage, .mediaThumbnail:
      let address = element.attributeBytes("href") ?? element.attributeBytes("url")
      setImage(address, rank: kind == .itunesImage ? 4 : 2)
      ignore()
    case .atomCategory:
      if let text = element.attribute("label") ?? element.attribute("term") { addCategory(text) }
      ignore()
    case .atomLink:
      channelLink(element)
      ignore()
    default:
      ignore()
    }
  }

  /// The text of an element has ended.
  func store(_ kind: FeedElement, _ bytes: UnsafeBufferPointer<UInt8>, _ context: Context) {
    let text = FeedText.trimmed(bytes)
    guard !text.isEmpty else { return }
    switch context {
    case .channel: storeChannel(kind, text)
    case .image: if kind == .url { setImage(text, rank: 3) }
    case .owner: feed.owner = feed.owner ?? FeedText.collapsed(text)
    case .author: setAuthor(text, rank: 1)
    default: storeItem(kind, text)
    }
  }

  private func storeChannel(_ kind: FeedElement, _ text: UnsafeBufferPointer<UInt8>) {
    switch kind {
    case .title: setTitle(FeedText.title(text), rank: 4)
    case .atomTitle: setTitle(plain(text), rank: 3)
    case .itunesTitle: setTitle(FeedText.title(text), rank: 2)
    case .dcTitle: setTitle(FeedText.title(text), rank: 1)
    case .description: setDescription(text, rank: 4)
    case .itunesSummary: setDescription(text, rank: 3)
    case .atomSubtitle: setDescription(text, rank: 2)
    case .itunesSubtitle: setDescription(text, rank: 1)
    case .itunesAuthor: setAuthor(text, rank: 4)
    case .creator: setAuthor(text, rank: 3)
    case .managingEditor: setAuthor(text, rank: 2)
    case .link: setLink(text, rank: 2)
    case .language, .dcLanguage: feed.language = feed.language ?? FeedText.collapsed(text)
    case .category: addCategory(FeedText.collapsed(text))
    case .ttl: feed.timeToLive = feed.timeToLive ?? FeedText.number(text).map { Int(min($0, 1 << 31)) }
    case .itunesExplicit: feed.explicit = feed.explicit ?? FeedText.explicit(text)
    case .itunesType: feed.type = feed.type ?? FeedText.collapsed(text).lowercased()
    case .itunesNewFeedURL: feed.newFeedURL = feed.newFeedURL ?? absolute(text)
    case .itunesComplete: feed.isComplete = FeedText.explicit(text) ?? false
    case .podcastGuid: feed.guid = feed.guid ?? FeedText.collapsed(text)
    case .atomLogo: setImage(text, rank: 3)
    case .atomIcon: setImage(text, rank: 1)
    default: break
    }
  }

  private func channelLink(_ element: XMLElement) {
    guard let address = element.attributeBytes("href") else { return }
    switch element.attribute("rel")?.lowercased() ?? "alternate" {
    case "alternate": setLink(address, rank: 1)
    case "next": feed.nextPageURL = feed.nextPageURL ?? absolute(address)
    case "self": feed.selfURL = feed.selfURL ?? absolute(address)
    default: break
    }
  }

  /// A title whose type attribute says whether it holds HTML.
  func plain(_ text: UnsafeBufferPointer<UInt8>) -> String {
    let title = FeedText.title(text)
    return capturedIsHTML ? FeedText.oneLine(TitleText.plain(title)) : title
  }

  private func setTitle(_ title: String, rank: Int) {
    if rank > ranks.title { (feed.title, ranks.title) = (title, rank) }
  }

  private func setAuthor(_ text: UnsafeBufferPointer<UInt8>, rank: Int) {
    if rank > ranks.author { (feed.author, ranks.author) = (FeedText.title(text), rank) }
  }

  private func setDescription(_ text: UnsafeBufferPointer<UInt8>, rank: Int) {
    if rank > ranks.description { (feed.description, ranks.description) = (FeedText.string(text), rank) }
  }

  private func setLink(_ address: UnsafeBufferPointer<UInt8>, rank: Int) {
    guard rank > ranks.link, let address = absolute(address) else { return }
    (feed.link, ranks.link) = (address, rank)
  }

  private func setImage(_ address: UnsafeBufferPointer<UInt8>?, rank: Int) {
    guard rank > ranks.image, let address = address.flatMap(absolute) else { return }
    (feed.imageURL, ranks.image) = (address, rank)
  }

  private func addCategory(_ text: String) {
    if feed.categories.count < 100, !feed.categories.contains(text) { feed.categories.append(text) }
  }
}
