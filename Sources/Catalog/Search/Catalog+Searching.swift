internal import Configuration
internal import FeedKit
internal import HTTPKit
package import PodcastModel
package import PosixKit

// Searches for podcasts: puts queries to the search service and to the catalogue itself, and keeps the searches that are
// directories. Each runs on a thread that waits for the answers.
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
    begin(name, completion) { [self] task in
      try store.read { try SearchRows.checkFree(name, except: old, in: $0) }
      if try Self.isOfEpisodes(name) {
        let none = MergedAnswer([SearchAnswer(source: "local", found: [])], limit: 1)
        return try keep(name, none, replacing: old, task)
      }
      let query = SearchQuery(parsing: name)
      let limit = query.limit ?? settings.searchLimit
      let index = query.sources.isEmpty ? try directoryAnswer(query, limit: limit) : nil
      let answer = try index.map { MergedAnswer([$0], limit: limit) } ?? answer(query, for: task)
      let search = try keep(name, answer, replacing: old, task)
      if index != nil, query.appleID == nil { complete(search.id, name: name, query) }
      return search
    }
  }

  private static func isOfEpisodes(_ name: String) throws(CatalogError) -> Bool {
    do { return try EpisodeQuery(parsing: name) != nil } catch {
      throw CatalogError(.EINVAL, "\(error)")
    }
  }

  private func keep(
    _ name: String, _ answer: MergedAnswer, replacing old: Int64?, _ task: CatalogWork<Search>
  ) throws -> Search {
    try task.beginCommit()
    // The words of the one that it takes the place of are forgotten.
    defer { if old != nil { store.emptyLog() } }
    return try store.change { [now = store.now] database, changes in
      try SearchRows.checkFree(name, except: old, in: database)
      let id = try SearchRows.record(name, answer, replacing: old, now: now, in: database)
      changes += [.search(id), .results(search: id)]
      return try existing("search", SearchRows.search(id, in: database))
    }
  }

  /// Keeps another answer to a search, where that is still there under its name.
  func update(
    _ search: Int64, _ name: String, _ answer: MergedAnswer, completes: Bool = false, at time: Int64? = nil
  ) throws(CatalogError) {
    try store.change { [now = store.now] database, changes in
      guard try SearchRows.search(search, in: database)?.name == name else { return }
      _ = try SearchRows.record(
        name, answer, replacing: search, completes: completes, now: time ?? now, in: database)
      changes += [.search(search), .results(search: search)]
    }
  }

  /// Asks like `search`, but keeps no search. An address, typed by the user, is that of a feed or of a page that names one:
  /// it is asked itself, and no service hears of it.
  /// - Parameter completion: called once, on any thread; for words after ten seconds at the latest.
  @discardableResult
  package func find(
    _ text: String,
    completion: @escaping @Sendable (Result<MergedAnswer, CatalogError>) -> Void
  ) -> any Cancellable {
    begin(text, completion) { [self] task in
      guard let addresses = Self.addresses(text) else {
        return try answer(SearchQuery(parsing: text), for: task)
      }
      let podcast = try feed(at: addresses, isTyped: true, for: task).podcast
      let found = SearchAnswer(source: "feed", found: [podcast], mayBePrivate: true)
      return MergedAnswer([found], limit: 1)
    }
  }

  private static func addresses(_ text: String) -> [WebAddress]? {
    let address: String
    switch PodcastLink(text) {
    case .feed(let feed): address = feed
    case nil where SubscriptionAddress.isAddress(text) && !text.contains(where: \.isWhitespace):
      address = text
    default: return nil
    }
    let addresses = SubscriptionAddress.typed(address)
    return addresses.isEmpty ? nil : addresses
  }

  func begin<Value: Sendable>(
    _ words: String, on queue: WorkQueue? = nil,
    _ completion: @escaping @Sendable (Result<Value, CatalogError>) -> Void,
    _ body: @escaping @Sendable (CatalogWork<Value>) throws -> Value
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    (queue ?? searchThreads).async { [self] in
      do { task.finish(.success(try body(task))) } catch {
        let error = CatalogError(wrapping: error)
        note(error, of: words)
        task.finish(.failure(error))
      }
    }
    return task
  }

  /// Tells the log of a search that has failed; not where the user has called it off, or given it a name that is taken.
  private func note(_ error: CatalogError, of query: String) {
    if [.ECANCELED, .EINTR, .EEXIST].contains(error.errno) { return }
    // What may hold a password or a token is not written down.
    let words = SubscriptionAddress.isAddress(query) ? "an address" : "\"\(query)\""
    log.write("cannot search for \(words): \(error)")
  }
}

extension Catalog {
  /// Seconds for an answer: a search is over within ten.
  private static let searchTimeout = 9.0
  private static let longestAnswer: Int64 = 16 << 20

  /// Puts a query to the offline directory and to the search service. Where neither answers, the service's error counts,
  /// unless the network is away and the catalogue itself knows something that fits.
  func answer(_ query: SearchQuery, for task: CatalogWork<some Sendable>) throws(CatalogError) -> MergedAnswer
  {
    var query = query
    let limit = query.limit ?? settings.searchLimit
    switch PodcastLink(query.terms) {
    case .apple(let number): (query.terms, query.appleID) = ("", number)
    case .podcastIndex(let number): return MergedAnswer([try podcast(number: number)], limit: limit)
    case .unsupported(let reason): throw CatalogError(.EINVAL, reason)
    case .feed, nil: break
    }
    if query.terms.isEmpty, query.appleID == nil { throw CatalogError(.EINVAL, "no words to search for") }
    // An address may hold a password or a token: no service gets to see one.
    if SubscriptionAddress.isAddress(query.terms) {
      throw CatalogError(
        .EINVAL, "an address is not a search, and was not sent: podcastfs subscribe ADDRESS follows it")
    }
    let index = try directoryAnswer(query, limit: limit)
    // A number names one podcast: once it is found, no other source is asked.
    if query.appleID != nil, let index, !index.found.isEmpty { return MergedAnswer([index], limit: limit) }
    let sources = Set(query.sources)
    let asksApple = sources.isEmpty || !sources.isDisjoint(with: [AppleSearch.name, "all"])
    var answers = [index].compactMap(\.self)
    var failure: CatalogError?
    if asksApple {
      do throws(CatalogError) {
        let address = apple.address(asking: query, limit: limit, country: query.country ?? settings.country)
        let response = try askApple(address, for: task)
        answers.append(
          SearchAnswer(
            source: AppleSearch.name, found: try apple.podcasts(in: response.body, for: query),
            mayBePrivate: response.head.isFromPrivateHost))
      } catch {
        failure = error
      }
    }
    let asksLocal = !asksApple && answers.isEmpty || !sources.isDisjoint(with: ["local", "all"])
    if asksLocal || answers.isEmpty && failure?.errno == .ENETUNREACH {
      let local = texts.answer(query, limit: limit)
      if asksLocal && (!asksApple || !answers.isEmpty) || !local.found.isEmpty { answers.append(local) }
    }
    if answers.isEmpty, let failure { throw failure }
    return MergedAnswer(answers, limit: limit)
  }

  func askApple(
    _ address: WebAddress, for task: CatalogWork<some Sendable>
  ) throws(CatalogError) -> HTTPResponse {
    let now = store.now
    if let wait = try store.write(.verb, { try apple.takeCall(now: now, in: $0) }) {
      throw CatalogError(.EAGAIN, "Apple was asked often enough in this minute: try again in \(wait) s")
    }
    var request = requests.request(address, seconds: Self.searchTimeout, bytes: Self.longestAnswer)
    request.headers = [("Accept", "application/json, text/javascript;q=0.9, */*;q=0.1")]
    request.allowsPrivateHosts = apple.isNamedByUser
    let response = try wrapping { try http.answer(request) { begun in task.onCancel { begun.cancel() } } }
    guard response.head.status == 200 else {
      let host = WebAddress(response.head.effectiveURL).host ?? AppleSearch.name
      var error = CatalogError(status: response.head.status, host: host)
      // Apple's throttling looks like a refusal.
      error.errno = [403: .EAGAIN, 404: .EIO, 410: .EIO][response.head.status] ?? error.errno
      if error.errno == .EAGAIN { try store.write { try apple.exhaustCalls(now: store.now, in: $0) } }
      throw error
    }
    return response
  }
}
