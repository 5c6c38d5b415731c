internal import Configuration
internal import FeedKit
internal import PodcastModel
internal import PosixKit

extension PodcastSearch {
  /// Searches for what `name` asks for and keeps the search under that name. Takes ten seconds at the most.
  ///
  /// Where the network is away and the catalogue itself knows something that fits, its own podcasts are the
  /// results. In any other failure nothing is left behind.
  /// - Parameters:
  ///   - old: a search that this one takes the place of; the same name searches again and keeps the names
  ///     of the results.
  ///   - completion: called once, on any thread. Errors: see `CatalogError`; EEXIST where there is a search
  ///     of that name.
  func search(
    _ name: String, replacing old: Int64?,
    completion: @escaping @Sendable (Result<Search, CatalogError>) -> Void
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    let query = SearchQuery(parsing: name)
    queue.async { [self] in
      do {
        try store.read { database in try SearchRows.checkFree(name, except: old, in: database) }
        try ask(query, for: task) { [self] result in
          finish(task, name: name, replacing: old, result)
        }
      } catch {
        let error = CatalogError(wrapping: error)
        note(error, of: name)
        task.finish(.failure(error))
      }
    }
    return task
  }

  /// Tells the log of a search that has failed; not where the user has called it off, or given it a name that is taken.
  func note(_ error: CatalogError, of query: String) {
    if [.ECANCELED, .EINTR, .EEXIST].contains(error.errno) { return }
    // What may hold a password or a token is not written down.
    let words = SubscriptionAddress.isAddress(query) ? "an address" : "\"\(query)\""
    log.write("cannot search for \(words): \(error.message(adviceFor: .search))")
  }

  private func finish(
    _ task: CatalogWork<Search>, name: String, replacing old: Int64?,
    _ result: Result<MergedAnswer, CatalogError>
  ) {
    let answer: MergedAnswer
    switch result {
    case .success(let found): answer = found
    case .failure(let error):
      note(error, of: name)
      return task.finish(.failure(error))
    }
    guard task.beginCommit() else { return }
    task.finish(
      Result { () throws(CatalogError) -> Search in
        // The words of the one that it takes the place of are forgotten.
        defer { if old != nil { store.log.empty() } }
        return try store.change { database, changes in
          try SearchRows.checkFree(name, except: old, in: database)
          if let former = try old.flatMap({ try SearchRows.search($0, in: database) })?.name, former != name {
            try AnswerCache.remove(answersTo: SearchQuery(parsing: former).terms, in: database)
          }
          let id = try SearchRows.record(
            name, answer, replacing: old, now: wallClockSeconds(), in: database)
          changes += [.search(id), .results(search: id)]
          guard let search = try SearchRows.search(id, in: database) else {
            throw CatalogError.unknown("search")
          }
          return search
        }
      })
  }
}
