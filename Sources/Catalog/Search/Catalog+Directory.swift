internal import Configuration
internal import Directory
internal import PodcastModel
internal import PosixKit

// `source:index`: the offline directory, where one is installed. Its answer comes at once; what the search service adds to it
// is merged in behind.
extension Catalog {
  /// As in `source:`.
  static let directoryName = "index"

  /// Asks the offline directory, where the sources of the query allow that.
  /// - Returns: nil where it is not asked, where none is installed, and where it finds nothing, unless it is named.
  /// - Throws: ENODATA where it is named and none is installed.
  func directoryAnswer(_ query: SearchQuery, limit: Int) throws(CatalogError) -> SearchAnswer? {
    let isNamed = query.sources.contains(Self.directoryName)
    let isAsked = isNamed || query.sources.isEmpty || query.sources.contains("all")
    guard isAsked, isNamed || directory.isInstalled else { return nil }
    do throws(DirectoryError) {
      let found =
        if let number = query.appleID { try [directory.podcast(apple: number)].compactMap(\.self) } else {
          try directory.search(query, limit: limit)
        }
      if found.isEmpty, !isNamed { return nil }
      return directoryAnswer(found)
    } catch {
      if isNamed { throw CatalogError(error.errno == .ENOENT ? .ENODATA : error.errno, error.message) }
      log.write("\(error)")
      return nil
    }
  }

  /// The directory is a stranger's: its feeds are on a private network only where the search service is on one, too.
  func directoryAnswer(_ found: [DirectoryEntry]) -> SearchAnswer {
    SearchAnswer(
      source: Self.directoryName, found: found.map(FoundPodcast.init), mayBePrivate: apple.isOnPrivateHost)
  }

  /// The podcast with a number at Podcast Index, which only the directory knows.
  func podcast(number: Int64) throws(CatalogError) -> SearchAnswer {
    do {
      if let entry = try directory.podcast(number: number) { return directoryAnswer([entry]) }
    } catch {
      throw CatalogError(wrapping: error)
    }
    throw CatalogError(.ENOENT, "the offline directory has no podcast of that number")
  }

  /// Puts the query of a search that the directory has answered to the search service, and adds its answer. Where it has
  /// none, the directory's answer stays.
  func complete(_ search: Int64, name: String, _ query: SearchQuery) {
    _ = begin(name, on: completingThreads, { (_: Result<Void, CatalogError>) in }) { [self] task in
      let answer = try answer(query, for: task)
      if answer.source == Self.directoryName { return }
      try task.beginCommit()
      try store.change { [now = store.now] database, changes in
        guard try SearchRows.search(search, in: database)?.name == name else { return }
        _ = try SearchRows.record(name, answer, replacing: search, completes: true, now: now, in: database)
        changes += [.search(search), .results(search: search)]
      }
    }
  }
}

// Links of directories and other players.
extension Catalog {
  /// The address of the feed or page that is meant by an address or a link.
  /// - Returns: also whether it may be on a private host as far as its source goes: the text itself, or the service that
  ///   knows the feed behind a number.
  /// - Throws: why a link leads to no feed.
  func feedAddress(
    _ text: String, for task: CatalogWork<some Sendable>
  ) throws(CatalogError) -> (address: String, mayBePrivate: Bool) {
    switch PodcastLink(text) {
    case nil: return (text, true)
    case .feed(let address): return (address, true)
    case .unsupported(let reason): throw CatalogError(.EINVAL, reason)
    case .apple, .podcastIndex:
      let answer = try answer(SearchQuery(parsing: text), for: task)
      guard let podcast = answer.podcasts.first else {
        throw CatalogError(.ENOENT, "no podcast is known by that link")
      }
      return (podcast.feedURL.forRequest, answer.mayBePrivate(podcast))
    }
  }
}

extension FoundPodcast {
  init(_ entry: DirectoryEntry) {
    self.init(feedURL: entry.feedURL, title: entry.title)
    (podcast.author, podcast.language, podcast.categories) = (entry.author, entry.language, entry.categories)
  }
}
