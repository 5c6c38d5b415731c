package import PodcastModel
package import PosixKit

extension Catalog {
  /// Searches for what `name` asks for and keeps the search under that name. Takes ten seconds at the most.
  ///
  /// Where the network is away and the catalogue itself knows something that fits, its own podcasts are the
  /// results. In any other failure nothing is left behind.
  /// - Parameters:
  ///   - old: a search that this one takes the place of; the same name searches again and keeps the names
  ///     of the results.
  ///   - completion: called once, on any thread. Errors: see `CatalogError`; EEXIST where there is a search
  ///     of that name.
  @discardableResult
  package func search(
    _ name: String, replacing old: Int64? = nil,
    completion: @escaping @Sendable (Result<Search, CatalogError>) -> Void
  ) -> any Cancellable {
    searching.search(name, replacing: old, completion: completion)
  }

  /// Asks the services like `search`, but keeps no search.
  /// - Parameter completion: called once, on any thread, after ten seconds at the latest.
  @discardableResult
  package func find(
    _ text: String,
    completion: @escaping @Sendable (Result<MergedAnswer, CatalogError>) -> Void
  ) -> any Cancellable {
    searching.find(text, completion: completion)
  }

  /// Waits until the full-text index, as far as this process fills it, has all that is known.
  /// - Returns: false where it has not within `seconds`.
  @discardableResult
  package func waitForTexts(seconds: Double) -> Bool { texts.wait(seconds: seconds) }
}
