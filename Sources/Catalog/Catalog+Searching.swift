internal import Configuration
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

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
  ) -> any CatalogTask {
    let task = CatalogWork(tasks, completion)
    let query = SearchQuery(parsing: name)
    work.async { [self] in
      do {
        try checkName(name, query, replacing: old)
        let services = try services.services(for: query)
        askAll(services, query, task) { [self] result in
          finish(task, name: name, replacing: old, query: query, result)
        }
      } catch {
        task.finish(.failure(CatalogError(wrapping: error)))
      }
    }
    return task
  }

  /// Before anybody is asked: what can't succeed need not trouble the service.
  private func checkName(_ name: String, _ query: SearchQuery, replacing old: Int64?) throws(CatalogError) {
    if query.terms.isEmpty { throw CatalogError(.EINVAL, "no words to search for") }
    try store.read { database in try Self.checkFree(name, except: old, in: database) }
  }

  private static func checkFree(_ name: String, except old: Int64?, in database: Database) throws {
    let taken = try database.first("SELECT id FROM search WHERE name = ?", name) { $0.int64(0) }
    if let taken, taken != old { throw CatalogError(.EEXIST, "there is a search of that name") }
    if let old, try !database.exists("SELECT 1 FROM search WHERE id = ?", old) {
      throw CatalogError.unknown("search")
    }
  }

  /// Asks all services at once. The error of the first one counts where none answers.
  func askAll(
    _ services: [any SearchService], _ query: SearchQuery, _ task: CatalogWork<some Sendable>,
    completion: @escaping @Sendable (Result<[SearchAnswer], CatalogError>) -> Void
  ) {
    let isLocal = !query.sources.isEmpty && (query.sources.contains("local") || query.sources.contains("all"))
    let local: [SearchAnswer] = isLocal ? [localAnswer(query)] : []
    if services.isEmpty { return completion(.success(local)) }
    let answers = Monitor([Result<SearchAnswer, CatalogError>?](repeating: nil, count: services.count))
    for (index, service) in services.enumerated() {
      ask(service, query, for: task) { answer in
        let all = answers.withLock { answers in
          answers[index] = answer
          let known = answers.compactMap(\.self)
          return known.count == answers.count ? known : nil
        }
        guard let all else { return }
        let good = all.compactMap { try? $0.get() } + local
        if good.isEmpty, case .failure(let error) = all[0] { return completion(.failure(error)) }
        completion(.success(good))
      }
    }
  }

  private func finish(
    _ task: CatalogWork<Search>, name: String, replacing old: Int64?, query: SearchQuery,
    _ result: Result<[SearchAnswer], CatalogError>
  ) {
    var answers: [SearchAnswer]
    switch result {
    case .success(let all): answers = all
    case .failure(let error):
      let local = localAnswer(query)
      let isAway = error.errno == .ENETUNREACH || error.errno == .EHOSTUNREACH
      if !isAway || local.found.isEmpty { return task.finish(.failure(error)) }
      answers = [local]
    }
    guard task.beginCommit() else { return }
    let merged = SearchAnswer.merged(answers, limit: query.limit ?? settings.searchLimit)
    let source = SearchAnswer.source(answers)
    task.finish(
      Result { () throws(CatalogError) in
        try change { database, changes in
          try Self.checkFree(name, except: old, in: database)
          let id = try Self.keep(
            name, source: source, replacing: old, merged, now: wallClockSeconds(), in: database)
          changes += [.searches, .results(search: id)]
          let count = try database.first(
            "SELECT count(*) FROM result WHERE search_id = ? AND state = 0", id
          ) { $0.int(0) }
          return Search(
            id: id, name: name, resultCount: count ?? 0, source: source, searched: wallClockSeconds())
        }
      })
  }
}
