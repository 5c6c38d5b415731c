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
      for name in missing.sorted() {
        try database.run(
          "INSERT OR IGNORE INTO search (name, source, searched) VALUES (?, ?, 0)",
          Search.categoryMark + name,
          Self.directoryName)
      }
    }
  }

  /// Sees to it that there is a row for one language of a category, or for one country's chart.
  /// - Parameters:
  ///   - language: two or three letters; of a country, two.
  ///   - id: of any search.
  /// - Returns: false where the search is no category, or the directory has no podcast of it in that language.
  package func makeLanguage(_ language: String, ofCategory id: Int64) throws(CatalogError) -> Bool {
    guard let search = try search(id), let category = search.category, search.language == nil else {
      return false
    }
    do {
      let isThere =
        category == AppleCharts.folder
        ? language.utf8.count == 2 && language.utf8.allSatisfy { (97...122).contains($0) }
        : try directory.languages(ofCategory: category).contains(language)
      if !isThere { return false }
    } catch {
      throw CatalogError(wrapping: error)
    }
    try store.change { database, changes in
      try database.run(
        "INSERT OR IGNORE INTO search (name, source, searched) VALUES (?, ?, 0)",
        search.name + Search.languageMark + language, Self.directoryName)
      if database.changedRows > 0 { changes.append(.search(database.lastInsertedID)) }
    }
    return true
  }

  /// Reads the podcasts of a category from the directory, where another directory was installed since the last time.
  /// - Parameter id: of any search; where it is no category, nothing is done.
  /// - Returns: whether they were read.
  package func fillCategory(_ id: Int64) throws(CatalogError) -> Bool {
    guard let search = try search(id), let category = search.category, category != AppleCharts.folder,
      directory.isInstalled
    else { return false }
    let (made, found): (Int64, [DirectoryEntry])
    do {
      made = try directory.facts().made
      if made == search.searched { return false }
      found = try directory.podcasts(inCategory: category, language: search.language)
    } catch {
      throw CatalogError(wrapping: error)
    }
    let answer = MergedAnswer([directoryAnswer(found)], limit: found.count)
    try store.change { database, changes in
      _ = try SearchRows.record(search.name, answer, replacing: id, now: made, in: database)
      changes.append(.results(search: id))
    }
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
