internal import Directory
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

// `Discover/`: the categories of the offline directory. Each is kept as a search is, under a name that no user can give, so
// that what it finds has numbers and names that stay.
extension Catalog {
  /// Whether the offline directory is installed.
  package var hasDirectory: Bool { directory.isInstalled }

  /// Sees to it that there is a row for each category.
  package func makeCategories() throws(CatalogError) {
    let known = try searches().compactMap(\.category)
    let missing = Set(Categories.names).subtracting(known)
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

  /// Takes the podcasts of a category from the directory, where they are not those of the one that is installed.
  /// - Parameter id: any search's; of others nothing is done.
  package func fillCategory(_ id: Int64) throws(CatalogError) {
    guard let search = try search(id), let category = search.category, directory.isInstalled else { return }
    let found: [DirectoryEntry]
    do throws(DirectoryError) {
      if try directory.facts().made <= search.searched { return }
      found = try directory.podcasts(inCategory: category)
    } catch {
      throw CatalogError(error.errno, error.message)
    }
    let answer = MergedAnswer(
      [SearchAnswer(source: Self.directoryName, found: found.map(FoundPodcast.init))], limit: found.count)
    try store.change { [now = store.now] database, changes in
      _ = try SearchRows.record(search.name, answer, replacing: id, now: now, in: database)
      changes.append(.results(search: id))
    }
  }
}

extension Search {
  /// What the name of a category begins with: a control character, which no directory's name has.
  static let categoryMark = "\u{1}"

  /// The category of `Discover/` that it is; nil for a search.
  package var category: String? { name.hasPrefix(Self.categoryMark) ? String(name.dropFirst()) : nil }
}
