internal import Configuration
internal import FeedKit
internal import PodcastModel
internal import PosixKit

extension PodcastSearch {
  /// Asks the services like `search`, but keeps no search.
  /// - Parameter completion: called once, on any thread, after ten seconds at the latest.
  func find(
    _ text: String,
    completion: @escaping @Sendable (Result<MergedAnswer, CatalogError>) -> Void
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    queue.async { [self] in
      do throws(CatalogError) {
        try ask(SearchQuery(parsing: text), for: task) { [self] result in
          if case .failure(let error) = result { note(error, of: text) }
          task.finish(result)
        }
      } catch {
        note(error, of: text)
        task.finish(.failure(error))
      }
    }
    return task
  }

  /// Puts a query to all its services at once. Where none answers, the error of the first one counts, unless
  /// the network is away and the catalogue itself knows something that fits.
  func ask(
    _ query: SearchQuery, for task: CatalogWork<some Sendable>,
    completion: @escaping @Sendable (Result<MergedAnswer, CatalogError>) -> Void
  ) throws(CatalogError) {
    if query.terms.isEmpty { throw CatalogError(.EINVAL, "no words to search for") }
    // An address may hold a password or a token: no service gets to see one.
    if SubscriptionAddress.isAddress(query.terms) {
      throw CatalogError(
        .EINVAL, "an address is no search, and was sent nowhere: podcastfs subscribe ADDRESS follows it")
    }
    let services = try services.services(for: query)
    let isLocal = query.sources.contains("local") || query.sources.contains("all")
    let limit = query.limit ?? settings.searchLimit
    if services.isEmpty {
      return completion(.success(MergedAnswer([texts.answer(query, limit: limit)], limit: limit)))
    }
    let answers = Monitor([Result<SearchAnswer, CatalogError>?](repeating: nil, count: services.count))
    for (index, service) in services.enumerated() {
      ask(service, query, for: task) { [self] answer in
        let all = answers.withLock { answers in
          answers[index] = answer
          let known = answers.compactMap(\.self)
          return known.count == answers.count ? known : nil
        }
        guard let all else { return }
        var good = all.compactMap { try? $0.get() }
        let isAway = all.contains { $0.isNetworkAway }
        let local = isLocal || good.isEmpty && isAway ? texts.answer(query, limit: limit) : nil
        if let local, isLocal && !good.isEmpty || !local.found.isEmpty { good.append(local) }
        if good.isEmpty, case .failure(let error) = all[0] { return completion(.failure(error)) }
        completion(.success(MergedAnswer(good, limit: limit)))
      }
    }
  }
}

extension Result where Failure == CatalogError {
  fileprivate var isNetworkAway: Bool {
    if case .failure(let error) = self { return error.errno == .ENETUNREACH }
    return false
  }
}
