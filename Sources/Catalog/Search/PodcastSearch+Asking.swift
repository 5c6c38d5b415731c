internal import Configuration
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

// Asking one service: a fresh answer that is known spares the question, a stale one serves where it can't be
// put.
extension PodcastSearch {
  /// Seconds for an answer: a search is over within ten.
  static let searchTimeout = 9.0
  private static let longestAnswer: Int64 = 16 << 20

  private func question(_ query: SearchQuery, to service: any SearchService) -> ServiceQuestion {
    service.question(
      query, limit: query.limit ?? settings.searchLimit, country: query.country ?? settings.country)
  }

  /// Calls `completion` once, on any thread.
  func ask(
    _ service: any SearchService, _ query: SearchQuery, for task: CatalogWork<some Sendable>,
    completion: @escaping @Sendable (Result<SearchAnswer, CatalogError>) -> Void
  ) {
    let question = question(query, to: service)
    let key = AnswerCache.key(service, question)
    do {
      let now = wallClockSeconds()
      let known = try store.read {
        try AnswerCache.answer(key, age: AnswerCache.freshness, now: now, in: $0)
      }
      if let known { return completion(.success(known)) }
      if service.callsPerMinute != nil,
        let wait = try store.write(.verb, { try CallLimit.take(service, now: now, in: $0) })
      {
        throw CatalogError(
          .EAGAIN, "\(service.name) was asked often enough in this minute: try again in \(wait) s")
      }
    } catch {
      return completion(staleAnswer(key, CatalogError(wrapping: error)))
    }
    var request = requests.request(
      WebAddress(question.url), seconds: Self.searchTimeout, bytes: Self.longestAnswer)
    request.headers = question.headers + [("Accept", "application/json, text/javascript;q=0.9, */*;q=0.1")]
    request.allowsPrivateHosts = service.isNamedByUser
    // The key is for the service alone.
    if !question.headers.isEmpty { request.maximumRedirects = 0 }
    let httpTask = http.fetch(request) { [self] result in
      queue.async { [self] in completion(received(result, from: service, key: key, terms: query.terms)) }
    }
    task.onCancel { httpTask.cancel() }
  }

  private func received(
    _ result: Result<HTTPResponse, HTTPError>, from service: any SearchService, key: String, terms: String
  ) -> Result<SearchAnswer, CatalogError> {
    do {
      let response = try result.get()
      let host = WebAddress(response.head.effectiveURL).host ?? service.name
      guard response.head.status == 200 else {
        var error = CatalogError(status: response.head.status, host: host)
        // Apple's throttling looks like a refusal.
        if response.head.status == 403 { error.errno = .EAGAIN }
        if error.errno == .EAGAIN {
          try store.write { try CallLimit.exhaust(service, now: wallClockSeconds(), in: $0) }
        }
        if response.head.status == 404 || response.head.status == 410 { error.errno = .EIO }
        throw error
      }
      let answer = SearchAnswer(
        source: service.name, found: try service.podcasts(in: response.body),
        mayBePrivate: response.head.isFromPrivateHost)
      try store.write { try AnswerCache.store(answer, for: key, to: terms, now: wallClockSeconds(), in: $0) }
      return .success(answer)
    } catch {
      return staleAnswer(key, CatalogError(wrapping: error))
    }
  }

  /// An older answer where there is one, else the error.
  private func staleAnswer(_ key: String, _ error: CatalogError) -> Result<SearchAnswer, CatalogError> {
    let stale = try? store.read {
      try AnswerCache.answer(key, age: AnswerCache.longest, now: wallClockSeconds(), in: $0)
    }
    if let stale { return .success(stale) }
    return .failure(error)
  }
}
