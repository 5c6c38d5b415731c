internal import Configuration
internal import PodcastModel
internal import PosixKit

/// What a search would show, and which services said so.
package struct Findings: Hashable, Sendable {
  package var source: String
  /// The best first.
  package var podcasts: [FoundPodcast]
}

extension Catalog {
  /// Asks what `search` would ask, and keeps nothing of it but the service's answer, as for any search.
  /// - Parameter completion: called once, on any thread. Errors: see `CatalogError`.
  @discardableResult
  package func find(
    _ text: String, completion: @escaping @Sendable (Result<Findings, CatalogError>) -> Void
  ) -> any CatalogTask {
    let task = CatalogWork(tasks, completion)
    let query = SearchQuery(parsing: text)
    work.async { [self] in
      do {
        if query.terms.isEmpty { throw CatalogError(.EINVAL, "no words to search for") }
        askAll(try services.services(for: query), query, task) { [self] result in
          task.finish(
            result.map { answers in
              let merged = SearchAnswer.merged(answers, limit: query.limit ?? settings.searchLimit)
              return Findings(source: SearchAnswer.source(answers), podcasts: merged.map(\.podcast))
            })
        }
      } catch {
        task.finish(.failure(CatalogError(wrapping: error)))
      }
    }
    return task
  }
}
