internal import Configuration
internal import Directory
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

// `Discover/`: the categories of the offline directory, and their languages. Each is kept as a search is, under a name that
// no user can give. So its podcasts keep their numbers and names.
extension Catalog {
  package var hasDirectory: Bool { directory.isInstalled }

  /// Sees to it that there is a row for each category, for the charts, and for that of the user's country.
  package func makeCategories() throws(CatalogError) {
    let known = try searches().map(\.name)
    let chart = AppleCharts.folder + Search.languageMark + settings.country
    let missing = Set(Categories.names + [AppleCharts.folder, chart])
      .filter { !known.contains(Search.categoryMark + $0) }
    if missing.isEmpty { return }
    try store.change { database, _ in
      for name in missing.sorted() { try Self.addCategory(Search.categoryMark + name, in: database) }
    }
  }

  /// Sees to it that there is a row for one language of a category, or for one country's chart.
  /// - Parameters:
  ///   - language: two or three letters; of a country, two.
  /// - Returns: false where the search is no category, or the directory has no podcast of it in that language.
  package func makeLanguage(_ language: String, ofCategory id: Int64) throws(CatalogError) -> Bool {
    guard let search = try search(id), let category = search.category, search.language == nil else {
      return false
    }
    let isThere = try wrapping {
      category == AppleCharts.folder
        ? language.utf8.count == 2 && language.utf8.allSatisfy { (97...122).contains($0) }
        : try directory.languages(ofCategory: category).contains(language)
    }
    if !isThere { return false }
    try store.change { database, changes in
      try Self.addCategory(search.name + Search.languageMark + language, in: database)
      if database.changedRows > 0 { changes.append(.search(database.lastInsertedID)) }
    }
    return true
  }

  private static func addCategory(_ name: String, in database: Database) throws {
    try database.run(
      "INSERT OR IGNORE INTO search (name, source, searched) VALUES (?, ?, 0)", name, directoryName)
  }

  /// Reads the podcasts of a category from the directory, where another directory was installed since the last time.
  /// - Returns: whether they were read.
  package func fillCategory(_ id: Int64) throws(CatalogError) -> Bool {
    guard let search = try search(id), let category = search.category, category != AppleCharts.folder,
      directory.isInstalled
    else { return false }
    let made = try wrapping { try directory.facts().made }
    if made == search.searched { return false }
    let found = try wrapping { try directory.podcasts(inCategory: category, language: search.language) }
    try update(id, search.name, MergedAnswer([directoryAnswer(found)], limit: found.count), at: made)
    return true
  }
}

extension Search {
  /// What the name of a category begins with: a control character, which no directory's name has.
  static let categoryMark = "\u{1}"

  /// What stands between a category and a language: no category has it.
  static let languageMark = "/"

  /// The category of `Discover/` that it shows; nil for a search.
  package var category: String? { place?.first.map(String.init) }
  /// The language, where it shows the podcasts of a category in one language.
  package var language: String? { place?.dropFirst().first.map(String.init) }

  private var place: [Substring]? {
    name.hasPrefix(Self.categoryMark) ? name.dropFirst().split(separator: Self.languageMark) : nil
  }
}

// `source:index`: the offline directory, where one is installed. Its answer comes at once; what the search service adds to it
// is merged in behind.
extension Catalog {
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
    if let entry = try wrapping({ try directory.podcast(number: number) }) { return directoryAnswer([entry]) }
    throw CatalogError(.ENOENT, "the offline directory has no podcast of that number")
  }

  /// Puts the query of a search that the directory has answered to the search service, and adds its answer. Where it has
  /// none, the directory's answer stays.
  func complete(_ search: Int64, name: String, _ query: SearchQuery) {
    _ = begin(name, on: completingThreads, { (_: Result<Void, CatalogError>) in }) { [self] task in
      let answer = try answer(query, for: task)
      if answer.source == Self.directoryName { return }
      try task.beginCommit()
      try update(search, name, answer, completes: true)
    }
  }
}

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
